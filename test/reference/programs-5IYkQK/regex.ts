import { input, output, scanOutput, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofPrompt = await scanPrompt([new input.Regex({ patterns: ["Bearer [A-Za-z0-9-._~+/]+"] })], prompt);
const ofOutput = await scanOutput([new output.Regex({ patterns: ["Bearer [A-Za-z0-9-._~+/]+"] })], prompt, answer);
