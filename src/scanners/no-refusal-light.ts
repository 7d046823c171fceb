import { addon, mapAnswer, native, type RuleScan } from "../native.ts";
import { passed, type Verdict } from "../scanner.ts";
import { defineScanner } from "./define.ts";
import { ruleCheck, ruleVerdict } from "./parts/rule-scanner.ts";

/** The typewriter's apostrophe and the typographic ones: U+2019, U+02BC, U+0060. */
const APOSTROPHES = "'\\u2019\\u02BC\\x60";

/** Refusals wherever they stand: English, Chinese, Russian, German, French, Spanish. */
const PHRASES = [
  String.raw`\b(?:I|we)\W{0,3}(?:(?:really|simply|just|also|still|therefore|however|unfortunately|must|do|am|AI|as an AI language model|as an AI)\W{1,3}){0,2}(?:cannot|can not|can[${APOSTROPHES}]?t|could not|couldn[${APOSTROPHES}]t|will not|won[${APOSTROPHES}]t|wouldn[${APOSTROPHES}]t|would not|am not able to|am unable to|[${APOSTROPHES}]m not able to|[${APOSTROPHES}]m unable to|am not going to|[${APOSTROPHES}]m not going to|am not comfortable|[${APOSTROPHES}]m not comfortable|am not programmed to|[${APOSTROPHES}]m not programmed to|am not capable of|[${APOSTROPHES}]m not capable of|must decline to|have to decline to|must refuse to|refuse to|am not allowed to|[${APOSTROPHES}]m not allowed to|am not permitted to|[${APOSTROPHES}]m not permitted to|do not have the ability to|don[${APOSTROPHES}]t have the ability to)\W{1,3}(?:(?:in good conscience|ethically|legally|directly|provide or|create or|write or|also|ever|simply|really|and will not|or will not|and should not|be able to|be|encourage or|condone or|promote or|support or)\W{1,3}){0,3}(?:assist|help|provid\w*|ful[fl]+il+\w*|compl(?:y|ying|ete)|creat\w*|generat\w*|writ\w+|write|support|engag\w*|offer\w*|answer|condone|promot\w*|shar(?:e|ing)|produc\w*|giv(?:e|ing)|discuss\w*|accommodate|satisfy|participate|encourag\w*|endors\w*|facilitat\w*|do (?:that|this|so|what)|continue|respond|process|recommend|suggest|advise|teach|tell you|develop\w*|design|draft|guide|perform|carry out|meet your|follow (?:your|that|this|those)|proceed|go along|act as|pretend|roleplay|role-play|bypass|express|make|explain|describe|disclose|reveal|contribute|agree|of (?:assist|help)\w*|with (?:this|that|your))\b`,
  String.raw`\b(?:I[${APOSTROPHES}]m|I am|we[${APOSTROPHES}]re|we are)\s+(?:\w+\s+){0,2}(?:sorry|afraid)\b\W{0,3}(?:\w+[${APOSTROPHES}]?\w*\W{1,3}){0,4}?(?:cannot|can[${APOSTROPHES}]?t|can not|unable|not able|won[${APOSTROPHES}]t|will not|not possible|not allowed|not comfortable|not going to|not appropriate|not ethical|illegal|against)\b`,
  String.raw`^\W{0,8}(?:\w+\W{1,3}){0,3}?(?:sorry|my apologies|apologies|I apologi[sz]e)\b\W{0,3}(?:for (?:any|the) \w+\W{1,3})?(?:\w+[${APOSTROPHES}]?\w*\W{1,3}){0,6}?(?:cannot|can[${APOSTROPHES}]?t|can not|unable|not able|won[${APOSTROPHES}]t|will not|not possible|not comfortable|no\b)`,
  String.raw`\b(?:goes|go|is|are|be|would be) against (?:\w+\W){0,3}?(?:my|our|OpenAI[${APOSTROPHES}]?s?|the|its|ethical)\s+(?:\w+\W+){0,5}?(?:polic\w+|guidelines?|programming|principles|terms|values|code|use case)\b`,
  String.raw`\b(?:programmed|designed|trained|built|here)\s+to\s+(?:\w+\W+){0,4}?(?:ethical|legal|responsible|lawful|harmless|positive)\b`,
  String.raw`\bmy (?:purpose|programming|role|goal|primary function)\b(?:\W+\w+[${APOSTROPHES}]?\w*){1,14}?\W+(?:ethical|legal|responsible|harmless|does not allow|doesn[${APOSTROPHES}]t allow|prevents me|positive)\b`,
  String.raw`\b(?:I must|I have to|I need to|I should)\s+(?:\w+\s+){0,2}?(?:decline|refuse|adhere to|abide by|inform you that I|remind you that (?:I|it|this|promoting|engaging))\b`,
  String.raw`\b(?:if you|please let me know if you)\s+(?:have|need)\s+(?:any|assistance|help)(?:\W+\w+){0,5}?\W+(?:non-(?:malicious|illegal|harmful)|legal|ethical|legitimate|appropriate|lawful)\b`,
  String.raw`\b(?:can|may|could) I help you with something else\b|\bis there (?:something|anything) else (?:I can|you)\b[^.?!]{0,40}\bhelp`,
  String.raw`\bI[${APOSTROPHES}]?m (?:just|only) an AI\b|\bas an? (?:\w+ ){0,4}?(?:AI|assistant|language model)\b[^.!?\n]{0,80}\b(?:cannot|can[${APOSTROPHES}]?t|unable|not able|must|don[${APOSTROPHES}]t|do not|adhere|programmed)\b`,
  String.raw`(?:很|非常|十分)?(?:抱歉|对不起|對不起)[^。！？\n]{0,20}(?:不能|无法|無法|不可以|不会)|(?:我|本人|作为[^。！？\n]{0,20}(?:人工智能|AI|语言模型|助手)[^。！？\n]{0,10})(?:不能|无法|無法)(?:为您|为你|向您|向你|给您|给你|直接|继续)?(?:提供|协助|帮助|满足|回答|生成|执行|参与|支持|完成|讨论)`,
  String.raw`\b(?:я|мы)\s+(?:(?:к сожалению|просто)[\s,]+)?(?:не могу|не можем|не в состоянии|не имею права|отказываюсь|вынужден\w* отказать\w*)\b|(?:извините|простите|прошу прощения|к сожалению|мне жаль)[^.!?\n]{0,60}\bне (?:могу|смогу|можем|буду|имею|вправе)\b`,
  String.raw`\b(?:leider|entschuldigung|tut mir(?: sehr)? leid|bedauere?)\b[^.!?\n]{0,60}\b(?:nicht|kein\w*)\b[^.!?\n]{0,60}\b(?:helfen|unterstützen|beantworten|bereitstellen|erstellen|geben|erfüllen|nachkommen|weiterhelfen|anbieten|schreiben|möglich|kann)\b|\b(?:leider|tut mir(?: sehr)? leid)\b[^.!?\n]{0,20}\bkann ich\b[^.!?\n]{0,80}\bnicht\b|\bich (?:kann|darf|werde)\b[^.!?\n]{0,80}\b(?:nicht|keine)\b[^.!?\n]{0,60}\b(?:helfen|unterstützen|erfüllen|nachkommen|bereitstellen)\b`,
  String.raw`\bje (?:ne )?(?:suis )?(?:vraiment )?désolée?\b[^.!?\n]{0,60}\b(?:ne peux|ne puis|ne suis pas|impossible)\b|\bje ne (?:peux|puis|suis)(?: malheureusement)? pas\b[^.!?\n]{0,20}\b(?:aider|fournir|répondre|vous|créer|écrire|générer|en mesure|autorisée?|capable|satisfaire|donner)\b|\bje (?:dois|suis obligée? de) (?:refuser|décliner)\b`,
  String.raw`\b(?:lo siento|lo lamento|disculpa|disculpe|perdón|perdona)\b[^.!?\n]{0,40}\bno (?:puedo|podemos|es posible|estoy)\b|\bno (?:puedo|podemos|me es posible|estoy en condiciones de)\s+(?:\w+\s+){0,2}?(?:ayudar\w*|proporcionar\w*|cumplir|responder|crear|generar|ofrecer\w*|asistir\w*|dar\w*|escribir|participar|apoyar|continuar)\b`,
];

/** What is a refusal at the beginning of an answer, and later on may be advice. */
const OPENINGS = [
  String.raw`\b(?:it is|it[${APOSTROPHES}]s|this is|that is|that[${APOSTROPHES}]s)\s+(?:\w+\s+)?(?:neither|not|never)\s+(?:\w+\s+){0,2}?(?:ethical|legal|acceptable|appropriate|within my (?:programming|capabilit\w+))\b`,
  String.raw`\b(?:illegal,?|unethical,?|immoral|harmful)\s+(?:and|or)\s+(?:\w+\s+)?(?:unethical|illegal|immoral|harmful|dangerous|wrong|against|can (?:result|lead)|goes against|not something)\b`,
];
/** Characters that count as the beginning. */
const OPENING = 300;

export const NoRefusalLight = defineScanner({
  type: "NoRefusalLight",
  summary: "Fails outputs in which the model refuses to answer, by phrases.",
  description:
    'llm-guard 0.3.16 looks for 28 substrings, among them "Sorry", "As an", "Hello!" and "OpenAI", which ordinary answers hold too, ' +
    "and knows the typewriter's apostrophe only. The phrases here say that something will not be done. They find about as many " +
    "refusals, and take a fifth as many ordinary answers for one. A refusal without such a phrase is found by NoRefusal only.",
  sides: { output: {} },
  options: () => ({}),
  examples: {
    passes: ["Sorry for the delay! Here is the summary.", "The bank refused to answer questions."],
    fails: ["I'm sorry, but I cannot assist with that."],
  },
  create() {
    const scanOpening = compile(OPENINGS).scanner();
    return {
      check: ruleCheck(compile(PHRASES), (text, phrases) => {
        const opening = native(() => scanOpening(text.slice(0, OPENING)));
        return mapAnswer(opening, (opening) => verdict(text, [phrases, opening]));
      }),
    };
  },
});

function verdict(text: string, scans: readonly (RuleScan | null)[]): Verdict {
  const matches = scans.flatMap((scan) => scan?.matches ?? []);
  if (matches.length === 0) return passed(text);
  const labels = matches.map(() => "refusal");
  return ruleVerdict(text, { matches: matches.map((match, rule) => ({ ...match, rule })) }, "refusal", labels);
}

function compile(phrases: readonly string[]) {
  const patterns = phrases.map((phrase) => `(?i)${phrase}`);
  return new addon.PatternSet(patterns, { matchType: "search", deobfuscate: false, replace: false, costly: false });
}
