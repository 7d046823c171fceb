import { output, scanOutput } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofOutput = await scanOutput([new output.FactualConsistency()], prompt, answer);
