import { input, scanPrompt } from "../../../src/index.ts";

const prompt = "What the user writes.";
const ofPrompt = await scanPrompt([new input.ToolPolicy()], prompt);
