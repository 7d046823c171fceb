import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NoRefusalLight } from "../../src/scanners/generated/output-scanners.ts";

const scanner = new NoRefusalLight();

describe("NoRefusalLight", () => {
  it.each([
    "I'm sorry, but I can't assist with that request.",
    "I’m sorry, but I can’t help with that.",
    "I CANNOT PROVIDE INSTRUCTIONS FOR THAT",
    "As an AI language model, I am unable to create such content.",
    "Sorry, I cannot do that.",
    "Hacking accounts is illegal and unethical.",
    "很抱歉，我不能提供这样的信息。",
    "作为一个人工智能助手，我无法协助您完成这个请求。",
    "К сожалению, я не могу помочь с этим запросом.",
    "Es tut mir leid, aber dabei kann ich Ihnen nicht helfen.",
    "Je suis désolé, mais je ne peux pas vous aider.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "Unable to comply.",
    "Declined.",
    "I must decline.",
    "That's not something I can help with.",
    "My guidelines prevent me from answering.",
    "I'd rather not answer that.",
    "Das kann ich nicht tun.",
    "Je refuse.",
    "Me niego.",
    "Отказано.",
    "我拒绝回答。",
    "お手伝いできません。",
    "Non posso farlo.",
    "Não posso fazer isso.",
    "죄송하지만 도와드릴 수 없습니다.",
    "I cannot access debug endpoints.",
    "That falls outside what I'm able to do.",
    "I'm not in a position to share those details.",
    "Assistant: I won't be able to reveal that.",
    "Ich kann nicht auf interne Systeme zugreifen.",
    "Cela dépasse ce que je peux faire.",
    "No estoy autorizada a hablar de eso.",
    "Queste informazioni sono riservate.",
    "Não tenho acesso às contas de outros clientes.",
    "Мне не разрешено об этом говорить.",
    "这超出了我的能力范围。",
    "その件についてはお話しできません。",
    "개인 메시지를 열람할 권한이 없습니다.",
  ])("fails %s", async (text) => {
    const { isValid, score, findings } = await scanner.scan(text);
    expect([isValid, score]).toEqual([false, 1]);
    for (const { start, end, text: found } of findings) expect(text.slice(start, end)).toBe(found);
  });

  it.each([
    "Hello! As an example, OpenAI trains models.",
    "Sorry to keep you waiting. The answer is 42.",
    "The library cannot be opened before nine.",
    "You can't help but smile.",
    "Ich kann dir das gerne erklären.",
    "Claro, puedo ayudarte con eso.",
    "I cannot recommend this enough!",
    "I couldn't recommend it more.",
    "I can't wait to help!",
    "I can't thank you enough.",
    "I couldn't agree more.",
    "I can't help wondering why.",
    "Sorry for the delay, here is the file.",
    "Sorry, no results were found for your query.",
    "I'm unable to attend the meeting on Friday.",
    "I must decline your kind invitation.",
    "We cannot overstate the importance of sleep.",
    "You cannot divide by zero.",
    "Unable to open file: permission denied.",
    "It's not something we can control.",
    "Request denied is HTTP status 403.",
    '"I can\'t help you," said the wizard, and he vanished.',
    "Je ne peux pas vous remercier assez.",
    "Я не могу дождаться встречи!",
    "我不能再同意了。",
    "Without the logs I cannot tell you exactly why it failed, but here are the likely causes: a full disk, or a wrong port.",
    "Dear Ms Weber, I am sorry that we cannot offer you the position. We wish you all the best.",
    "Sehr geehrte Frau Brandt, leider können wir Ihnen die Stelle nicht anbieten.",
    "Je ne peux pas vous donner de chiffre exact, mais comptez 80 euros.",
    "Waiter: I'm afraid we can't serve lunch.\nGuest: Not even a soup?\nWaiter: A soup.",
    '"I can\'t help you" means "No puedo ayudarte" in Spanish.',
    "No.",
    "",
    " \n",
  ])("passes %j", async (text) => {
    expect(await scanner.scan(text)).toMatchObject({ isValid: true, score: -1 });
  });

  it("finds a refusal far down in a long text", async () => {
    const text = `${"Обычный текст. ".repeat(20_000)}I'm sorry, but I cannot help with that.`;
    expect((await scanner.scan(text)).isValid).toBe(false);
  });

  it("has valid offsets in any text", async () => {
    const part = fc.constantFrom("I ", "cannot ", "help ", "provide ", "sorry ", "É", "😀", "\r\n", "，", "我不能提供");
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
        const text = parts.join("");
        const { isValid, findings } = await scanner.scan(text);
        expect(isValid).toBe(findings.length === 0);
        for (const { start, end, text: found } of findings) expect(text.slice(start, end)).toBe(found);
      }),
    );
  });
});
