import { output, scanOutput } from "../../../src/index.ts";

const prompt = "";
const answer = "What the model answers.";
const ofOutput = await scanOutput([new output.NoRefusalLight()], prompt, answer);
