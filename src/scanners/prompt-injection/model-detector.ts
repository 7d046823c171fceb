import type { CallContext } from "../../models/call-context.ts";
import type { Engine } from "../../models/engine.ts";
import { LabelHead } from "../../models/label-head.ts";
import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import type { TextModel } from "../../models/text-model.ts";
import type { Source } from "../../scan/source.ts";
import { withPathPrefix } from "../../support/errors.ts";
import type { Calibration } from "../parts/calibration.ts";
import { blankPlaceholders } from "../parts/placeholders.ts";
import { type ScoredText, scoreViews } from "../parts/scored-text.ts";
import { type LanguageScorer, languageScorer, type UntrainedTreatment } from "../parts/untrained-languages.ts";
import { isFragment } from "./fragments.ts";
import { hijackFinder, withHijacks } from "./hijacks.ts";
import { type InjectionDetector, type InjectionPart, likeliestLabel, sumOfScores, topLabel } from "./injection-part.ts";

/** The questions about a text: does it contain a direct, or an indirect injection? guard's own model has a head for each. */
const QUESTIONS = ["direct", "indirect"] as const;
type Question = (typeof QUESTIONS)[number];

/**
 * The question for a text, by its source. Tool results are data, where any instruction to a model is out of place, however polite. Users,
 * system prompts and tool definitions give instructions, and models pass them to other models as arguments, so only attacks on the
 * model's instructions, secrets or rules count there.
 */
const QUESTION_OF: Record<Source, Question> = {
  user: "direct",
  assistant: "direct",
  system: "direct",
  tool_definition: "direct",
  tool: "indirect",
  tool_call: "direct",
};

interface ModelDetectorSettings {
  model: string;
  modelMaxLength?: number | undefined;
  matchType: LongTextStrategy;
  deobfuscate: boolean;
  injectionLabels: readonly string[];
  onUntrainedLanguage: UntrainedTreatment;
}

/** The head and the languages for one question. */
interface QuestionHead {
  labels: LabelHead;
  languages: LanguageScorer;
}

/** Finds injections with a model of the engine. */
export class ModelDetector implements InjectionDetector {
  readonly #model: TextModel;
  readonly #settings: ModelDetectorSettings;
  /**
   * Whether guard corrects the model: fragments of one or two words are harmless, and phrases find orders that the model does not know.
   * Results of other models are not corrected.
   */
  readonly #isEmbedded: boolean;
  readonly #findHijacks: ReturnType<typeof hijackFinder> | undefined;
  readonly #heads: Record<Question, QuestionHead>;

  /**
   * @param type the type of the scanner, for its curves.
   * @throws GuardValidationError for a model that does not exist.
   */
  constructor(type: string, engine: Engine, settings: ModelDetectorSettings) {
    const { model: name, modelMaxLength: maxLength, injectionLabels, onUntrainedLanguage: treatment } = settings;
    const model = withPathPrefix("model", () => engine.model(name, { maxLength }));
    this.#model = model;
    this.#settings = settings;
    this.#isEmbedded = name.startsWith("embedded:");
    this.#findHijacks = this.#isEmbedded ? hijackFinder() : undefined;
    const wanted = { labels: injectionLabels, all: true, caseSensitive: true, option: "injectionLabels" };
    const headOf = (head: Question): QuestionHead => ({
      labels: new LabelHead(model, { head, ...wanted }),
      languages: languageScorer({ type, engine, model, head, treatment }),
    });
    this.#heads = { direct: headOf("direct"), indirect: headOf("indirect") };
  }

  get folder(): string | undefined {
    return this.#model.folder;
  }

  async load(signal?: AbortSignal): Promise<void> {
    for (const question of QUESTIONS) {
      const { labels, languages } = this.#heads[question];
      await labels.load(signal);
      await languages.load();
    }
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  score(text: string, source: Source, context: CallContext): Promise<ScoredText<InjectionPart>> {
    const question = QUESTION_OF[source];
    const scoreView = (view: string) => this.#scoreView(view, question, context);
    return scoreViews<InjectionPart>(blankPlaceholders(text), this.#settings, scoreView, context);
  }

  async #scoreView(view: string, question: Question, context: CallContext) {
    const score = (part: string) => this.#scoreParts(part, question, context);
    const scored = await this.#heads[question].languages.score(view, score, correctedPart, context);
    const hijacks = (await this.#findHijacks?.(view, context)) ?? [];
    const attack = attackOf(question, "override");
    const parts = withHijacks(scored.parts, hijacks, ({ start, end }, score): InjectionPart => {
      return { start, end, score, category: attack, attack };
    });
    return { ...scored, parts };
  }

  /** Scores the parts of a text in one language. The score of a part is the sum of the labels that mean an injection. */
  async #scoreParts(text: string, question: Question, context: CallContext) {
    const { labels: head } = this.#heads[question];
    const { head: index, heads } = await head.describe(context);
    const names = heads[index]?.labels ?? [];
    const categories = heads.findIndex(({ name }) => name === "category");
    const { parts, skipped } = await head.score(text, this.#settings.matchType, context);
    return {
      skipped,
      parts: parts.map(({ start, end, labels: injections, heads: scores }): InjectionPart => {
        const label = topLabel(names, scores[index] ?? []);
        const attack =
          categories < 0
            ? likeliestLabel(injections)
            : attackOf(question, topLabel(heads[categories]?.labels ?? [], scores[categories] ?? []));
        const isInjection = injections.some((injection) => injection.label === label);
        const isHarmless = this.#isEmbedded && isFragment(text, { start, end });
        const score = isHarmless ? 0 : sumOfScores(injections);
        return { start, end, score, category: isInjection ? attack : label, attack };
      }),
    };
  }
}

/** Returns the kind of an attack. An instruction in data is an indirect injection, whatever its wording (Greshake et al., 2023, arXiv:2302.12173). */
function attackOf(question: Question, category: string): string {
  return question === "indirect" ? "indirect" : category;
}

function correctedPart(part: InjectionPart, correct: Calibration): InjectionPart {
  return { ...part, score: correct(part.score) };
}
