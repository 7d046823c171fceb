import { input, output, scanOutput, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofPrompt = await scanPrompt([new input.Sentiment({ threshold: -0.3 })], prompt);
const ofOutput = await scanOutput([new output.Sentiment({ threshold: -0.1 })], prompt, answer);
