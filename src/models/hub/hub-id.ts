/** A model of the hub, as `owner/name`, `owner/name@revision` or `owner/name@revision:folder/model.onnx`. */
export interface HubId {
  /** `owner/name`. */
  repository: string;
  /** A branch, a tag or a commit; `main` unless named. */
  revision: string;
  /** The ONNX file in the repository, if the name contains one. */
  graph?: string;
}

export const MAIN = "main";
const PART = "[A-Za-z0-9_](?:[\\w.-]*[A-Za-z0-9_])?";
const ID = new RegExp(`^(${PART}/${PART})(?:@(\\w[\\w./+-]*))?(?::(.+\\.onnx))?$`);
/** The maximum length of a name on the hub, in characters. */
const MAX_LENGTH = 96;

/** Parses the name of a hub model. It returns undefined for a text that is not one. */
export function parseHubId(model: string): HubId | undefined {
  const [, repository = "", revision = MAIN, graph] = ID.exec(model) ?? [];
  if (!repository || repository.length > MAX_LENGTH || /--|\.\./.test(repository)) return undefined;
  if (revision.includes("..") || (graph !== undefined && !isSafePath(graph))) return undefined;
  return { repository, revision, ...(graph === undefined ? {} : { graph }) };
}

/** Formats the shortest name that {@link parseHubId} parses to this model. */
export function formatHubId({ repository, revision, graph }: HubId): string {
  return `${repository}${revision === MAIN ? "" : `@${revision}`}${graph === undefined ? "" : `:${graph}`}`;
}

/** Whether a path of a repository stays inside its folder on every operating system. */
export function isSafePath(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a path must not contain these characters.
  if (/[\u0000-\u001f\\:]/.test(path)) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
