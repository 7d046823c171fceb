import { input, output, scanOutput, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofPrompt = await scanPrompt([new input.BanTopics({ topics: ["politics"] })], prompt);
const ofOutput = await scanOutput([new output.BanTopics({ topics: ["politics"] })], prompt, answer);
