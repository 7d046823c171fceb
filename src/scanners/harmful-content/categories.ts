import { highestByKey } from "../../support/highest-by-key.ts";

/** A category of harm, as other taxonomies name it. An empty list: the taxonomy has no category for it. */
export interface CategoryNames {
  /**
   * Hazards of MLCommons AILuminate 1.0 and parts of its hazard Specialized Advice, by their names in the paper (Ghosh et al. 2025,
   * arXiv:2503.05731).
   */
  readonly ailuminate: readonly string[];
  /** Categories of OpenAI's moderation (`Moderation.Categories` of the package openai). */
  readonly openai: readonly string[];
  /** Categories of Llama Guard 3 (the model card of meta-llama/Llama-Guard-3-8B). */
  readonly llamaGuard: readonly string[];
  /** Categories of Azure AI Content Safety (Microsoft Learn, "Harm categories"), by their API terms. */
  readonly azure: readonly string[];
}

/**
 * The categories of HarmfulContent, each with the categories of other taxonomies that cover it. Where several are listed, each covers a part
 * of it.
 */
export const CATEGORIES = {
  violent_crimes: {
    ailuminate: ["Violent Crimes"],
    openai: ["illicit", "illicit/violent", "violence"],
    llamaGuard: ["S1"],
    azure: ["Violence"],
  },
  nonviolent_crimes: {
    ailuminate: ["Nonviolent Crimes"],
    openai: ["illicit"],
    llamaGuard: ["S2"],
    azure: [],
  },
  sex_crimes: {
    ailuminate: ["Sex-Related Crimes"],
    openai: ["illicit"],
    llamaGuard: ["S3"],
    azure: ["Sexual"],
  },
  child_exploitation: {
    ailuminate: ["Child Sexual Exploitation"],
    openai: ["sexual", "sexual/minors"],
    llamaGuard: ["S4"],
    azure: ["Sexual"],
  },
  weapons: {
    // AILuminate and Llama Guard count firearms among crimes, not among indiscriminate weapons.
    ailuminate: ["Indiscriminate Weapons", "Nonviolent Crimes"],
    openai: ["illicit", "illicit/violent"],
    llamaGuard: ["S2", "S9"],
    azure: ["Violence"],
  },
  self_harm: {
    ailuminate: ["Suicide & Self-Harm"],
    // A person who speaks of their own distress writes nothing harmful, so no category stands for self-harm/intent.
    openai: ["self-harm", "self-harm/instructions"],
    llamaGuard: ["S11"],
    azure: ["SelfHarm"],
  },
  hate: {
    ailuminate: ["Hate"],
    openai: ["hate"],
    llamaGuard: ["S10"],
    azure: ["Hate"],
  },
  harassment: {
    ailuminate: [],
    openai: ["harassment"],
    llamaGuard: [],
    azure: ["Hate"],
  },
  privacy: {
    ailuminate: ["Privacy"],
    openai: ["illicit"],
    llamaGuard: ["S7"],
    azure: [],
  },
  defamation: {
    ailuminate: ["Defamation"],
    openai: [],
    llamaGuard: ["S5"],
    azure: [],
  },
  intellectual_property: {
    ailuminate: ["Intellectual Property"],
    openai: ["illicit"],
    llamaGuard: ["S8"],
    azure: [],
  },
  specialized_advice: {
    ailuminate: ["Specialized Advice"],
    openai: [],
    llamaGuard: ["S6"],
    azure: [],
  },
  elections: {
    ailuminate: ["Specialized Advice (Election)"],
    openai: [],
    llamaGuard: ["S13"],
    azure: [],
  },
  sexual_content: {
    ailuminate: ["Sexual Content"],
    openai: ["sexual"],
    llamaGuard: ["S12"],
    azure: ["Sexual"],
  },
  malware: {
    // AILuminate and Llama Guard count attacks on computers among nonviolent crimes.
    ailuminate: ["Nonviolent Crimes"],
    openai: ["illicit"],
    llamaGuard: ["S2"],
    azure: [],
  },
  graphic_violence: {
    ailuminate: [],
    openai: ["violence", "violence/graphic"],
    llamaGuard: [],
    azure: ["Violence"],
  },
} as const satisfies Record<string, CategoryNames>;

/** A category of HarmfulContent. */
export type HarmCategory = keyof typeof CATEGORIES;

/** The categories, in the order of the head of the model. */
export const HARM_CATEGORIES = Object.keys(CATEGORIES) as [HarmCategory, ...HarmCategory[]];

/**
 * Categories of OpenAI that stand for two categories of ours at once: the content belongs to the first one, and includes violence as the
 * second one does.
 */
export const OPENAI_COMBINED: Readonly<Record<string, readonly [HarmCategory, HarmCategory]>> = {
  "harassment/threatening": ["harassment", "violent_crimes"],
  "hate/threatening": ["hate", "violent_crimes"],
};

/** The type of the findings, whose labels are {@link HARMFUL} and the categories. */
export const HARM_FINDING = "harm";
/** The type of the findings with the probabilities of all categories, whether or not the text fails. */
export const HARM_SCORE_FINDING = "harm-score";
/** The label of harm of any category. */
export const HARMFUL = "harmful";

/**
 * Returns the scores of OpenAI's categories for scores of ours. A category of OpenAI has the highest score of the categories that belong to
 * it. Categories that no category of ours belongs to are left out.
 */
export function openaiScores(scores: ReadonlyMap<string, number>): Map<string, number> {
  const scoreOf = (category: string) => scores.get(category) ?? 0;
  const found = highestByKey<string>(
    HARM_CATEGORIES.flatMap((category) =>
      CATEGORIES[category].openai.map((name) => [name, scoreOf(category)] as const),
    ),
  );
  for (const [name, both] of Object.entries(OPENAI_COMBINED)) found.set(name, Math.min(...both.map(scoreOf)));
  return found;
}
