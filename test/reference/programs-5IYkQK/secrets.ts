import { input, output, scanOutput, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofPrompt = await scanPrompt([new input.Secrets()], prompt);
const ofOutput = await scanOutput([new output.Secrets()], prompt, answer);
