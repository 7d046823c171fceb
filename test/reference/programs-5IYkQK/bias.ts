import { input, output, scanOutput, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofPrompt = await scanPrompt([new input.Bias({ threshold: 0.7 })], prompt);
const ofOutput = await scanOutput([new output.Bias({ threshold: 0.7 })], prompt, answer);
