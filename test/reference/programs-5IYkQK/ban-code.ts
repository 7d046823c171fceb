import { input, output, scanOutput, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofPrompt = await scanPrompt([new input.BanCode({ threshold: 0.97 })], prompt);
const ofOutput = await scanOutput([new output.BanCode({ threshold: 0.9 })], prompt, answer);
