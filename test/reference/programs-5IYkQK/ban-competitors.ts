import { input, output, scanOutput, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const answer = "What the model answers.";
const ofPrompt = await scanPrompt([new input.BanCompetitors({ competitors: ["Acme"] })], prompt);
const ofOutput = await scanOutput([new output.BanCompetitors({ competitors: ["Acme"] })], prompt, answer);
