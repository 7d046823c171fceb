// A development set for the scanner Secrets: lines of configuration, code, logs, notebooks, CI output and chats in six languages, made from
// a seed. Half of the lines have a secret. The others look alike: hashes, identifiers, lock files, minified code, fixtures, documentation,
// placeholders.
import { random } from "../texts/random.mjs";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const ALPHANUMERIC = LOWER + UPPER + DIGITS;
const NOUNS =
  "amber anchor apple autumn badger basil beacon berry birch bishop bottle bridge bronze butter cactus candle canyon carbon castle cedar cherry cliff clover copper coral cotton cradle crystal dagger daisy desert dolphin dragon eagle ember falcon feather fennel ferry flint forest garden garnet ginger glacier granite hammer harbor harvest hazel helmet honey island ivory jasmine jungle kettle lantern lemon lilac lizard magnet mango maple marble meadow melon meteor mirror monkey mountain mustard nectar nutmeg ocean olive onion orchid otter oyster panda pepper pigeon pillow planet pony puzzle quartz rabbit radish raven ribbon river rocket saddle salmon sapphire shadow silver sparrow spider spruce stone summer sunset tiger timber tomato tulip turtle valley velvet violet walnut willow winter zebra".split(
    " ",
  );
const WORDS =
  "account balance button cache client column config content customer default detail document element event feature field filter folder group handler header image index input invoice item label layout list loader manager message model module node option order page panel parent parser payload product profile project provider query record region render report request resource response result route row schema search section selector service session setting state status store stream style table target task template theme thread title toggle token tree type update upload user value vendor version view widget window worker wrapper".split(
    " ",
  );

/** The kinds of lines, by what they contain: the generators get the tools of {@link tools}. */
const SECRETS = {
  configuration: [
    (t) => `DB_PASSWORD=${t.password()}`,
    (t) => `${t.name()}_API_KEY=${t.text(ALPHANUMERIC, 24 + t.below(20))}`,
    (t) => `password: "${t.password()}"`,
    (t) => `secret_key = '${t.text(`${ALPHANUMERIC}!#%^&*@`, 24)}7#a'`,
    (t) => `spring.datasource.password=${t.password()}`,
    (t) => `api_key = "${t.signed()}"`,
    (t) => `Server=db${t.below(9)};Database=shop;User Id=sa;Password=${t.password()}!;`,
    (t) => `jdbc:mysql://db/x?password=${t.password()}&user=app`,
    (t) => `smtp_password = "${t.phrase()}"`,
    (t) => `variable "db_password" {\n  type    = string\n  default = "${t.password()}"\n}`,
    (t) => `  DBPassword:\n    Type: String\n    Default: ${t.password()}`,
    (t) => `\${REDIS_PASSWORD:-${t.password()}}`,
    (t) => `kind: Secret\nmetadata:\n  name: ${t.noun()}\ndata:\n  ${t.noun()}: ${t.base64(t.password())}`,
    (t) => `kind: Secret\nstringData:\n  ${t.noun()}: ${t.noun()}-${t.noun()}`,
    (t) => `<password>${t.password()}</password>`,
    (t) => `{"clientSecret": "${t.text(ALPHANUMERIC, 40)}"}`,
  ],
  code: [
    (t) => `const token = "${t.text(ALPHANUMERIC, 36)}";`,
    (t) => `requests.get(url, auth=("${t.noun()}", "${t.password()}"))`,
    (t) => `parser.add_argument("--password", default="${t.password()}")`,
    (t) => `const p = process.env.DB_PASSWORD || "${t.password()}";`,
    (t) => `INSERT INTO users (name, password) VALUES ('${t.noun()}', '${t.password()}');`,
    (t) => `headers = {"X-Api-Key": "${t.text(ALPHANUMERIC, 32)}"}`,
    (t) => `db = connect(user="app", password="${t.password()}!")`,
    (t) => `var secret = "${t.signed()}";`,
  ],
  logs: [
    (t) => `GET /v1/items?user_password=${t.text(ALPHANUMERIC, 24)}&page=2 200`,
    (t) => `GET /v1/files?sig=${t.text(ALPHANUMERIC, 28)}&exp=17${t.text(DIGITS, 8)} 200 12ms`,
    (t) => `POST /auth/reset/${t.text("0123456789abcdef", 40)} 204`,
    (t) => `INFO callback https://${t.noun()}.test/cb?id_token=${t.text(ALPHANUMERIC, 40)}&state=1`,
    (t) => `DEBUG Authorization: Bearer ${t.text(ALPHANUMERIC, 40)}`,
    (t) => `login failed for ${t.noun()} with password=${t.password()}&remember=1`,
  ],
  shell: [
    (t) => `curl -u ${t.noun()}:${t.password()} https://${t.noun()}.test/api`,
    (t) => `az login -u ${t.noun()} -p ${t.password()}`,
    (t) => `7z x -p${t.password()} ${t.noun()}.7z`,
    (t) => `net user ${t.noun()} ${t.password()} /add`,
    (t) => `ssh-keygen -t ed25519 -N "${t.phrase()}" -f key`,
    (t) => `mysql -u root -p${t.password()} shop`,
    (t) => `export ${t.name()}_TOKEN=${t.text(ALPHANUMERIC, 40)}`,
    (t) => `git clone https://${t.text(ALPHANUMERIC, 40)}@git.${t.noun()}.test/a.git`,
  ],
  notebooks: [
    (t) => `{"cell_type": "code", "source": ["client = Client(api_key=\\"${t.text(ALPHANUMERIC, 32)}\\")\\n"]}`,
    (t) => `"    conn = psycopg2.connect(\\"host=db user=app password=${t.password()} dbname=x\\")\\n",`,
    (t) => `%env ${t.name()}_SECRET=${t.text(ALPHANUMERIC, 32)}`,
  ],
  chats: [
    (t) => `The password for the ${t.noun()} server is ${t.password()}`,
    (t) => `user: ${t.noun()} pass: ${t.password()}`,
    (t) => `can you log in? creds: ${t.noun()}:${t.password()}`,
    (t) => `my password is "${t.phrase()}", please keep it`,
    (t) => `Das Passwort für das WLAN lautet ${t.password()}`,
    (t) => `mein Kennwort: ${t.password()}`,
    (t) => `le mot de passe est ${t.password()}`,
    (t) => `la contraseña del router es ${t.password()}`,
    (t) => `пароль от почты: ${t.password()}`,
    (t) => `мой пароль ${t.password()}`,
    (t) => `пароль: ${t.of(["тюльпан", "берёза", "лампочка", "облако"])}${t.below(90) + 10}`,
    (t) => `密码是 ${t.password()}`,
    (t) => `数据库的密码：${t.password()}`,
    (t) =>
      `my seed phrase is ${Array.from({ length: 12 }, () => t.noun()).join(" ")}`.replace(/\b[a-z]{9,}\b/g, "ocean"),
  ],
};

const HARMLESS = {
  hashes: [
    (t) => `commit ${t.text("0123456789abcdef", 40)}`,
    (t) => `- uses: actions/create-${t.noun()}-token@${t.text("0123456789abcdef", 40)}`,
    (t) => `sha256sum: ${t.text("0123456789abcdef", 64)}  secret-${t.noun()}.zip`,
    (t) => `SHA256 (token.zip) = ${t.text("0123456789abcdef", 64)}`,
    (t) => `etag: "${t.text("0123456789abcdef", 32)}"`,
    (t) => `fix ${t.noun()} auth token refresh (${t.text("0123456789abcdef", 40)})`,
    (t) => `image: registry.test/${t.noun()}@sha256:${t.text("0123456789abcdef", 64)}`,
  ],
  identifiers: [
    (t) => `trace_id=${t.text("0123456789abcdef", 32)} user=${t.noun()}`,
    (t) => `request ${t.uuid()} took ${t.below(900)} ms`,
    (t) => `id="${t.camel(4)}${t.text(DIGITS, 10)}${t.camel(2)}"`,
    (t) => `<div id="${t.words(4).join("-")}-group-${t.text(DIGITS, 9)}-1" class="token-${t.noun()}">`,
    (t) => `const ${t.camel(3)} = ${t.camel(2)}("${t.camel(5)}");`,
    (t) => `"session_key": "${t.words(3).join(".")}"`,
    (t) => `order number ${t.text(DIGITS, 12)}, invoice INV-${t.text(DIGITS, 6)}`,
  ],
  "lock files": [
    (t) => `  resolution: {integrity: sha512-${t.text(`${ALPHANUMERIC}+/`, 86)}==}`,
    (t) =>
      `"https://deno.land/std/${t.of(["token", "password", "secret", "auth"])}.ts": "${t.text("0123456789abcdef", 64)}",`,
    (t) => `github.com/${t.noun()}/auth-token v1.${t.below(20)}.0 h1:${t.text(`${ALPHANUMERIC}+/`, 43)}=`,
    (t) => `name = "${t.noun()}-token"\nchecksum = "${t.text("0123456789abcdef", 64)}"`,
    (t) => `"token.png": "/static/media/token.${t.text("0123456789abcdef", 20)}.png",`,
    (t) => `    --hash=sha256:${t.text("0123456789abcdef", 64)} \\`,
  ],
  "code and minified code": [
    (t) => `!function(e,t){t.password=e.password,t.token=e.token2}(${t.letter()},${t.letter()});`,
    (t) => `password = os.environ["${t.name()}_PASSWORD"]`,
    (t) => `const token = await get${t.camel(2)}(user.id);`,
    (t) => `if (password.length < ${t.below(20)}) return "Password must have at least ${t.below(20)} characters";`,
    (t) => `token: ${t.camel(2)}.token2,`,
    (t) => `secretKeyRef: {name: ${t.noun()}-credentials, key: password}`,
    (t) => `api_key: \${{ secrets.${t.name()}_API_KEY }}`,
    (t) => `var ${t.letter()}="${t.words(5).join("-")}",${t.letter()}="${t.camel(4)}";`,
    (t) => `@token_required(scope="${t.noun()}:read")`,
    (t) => `pass: ${t.below(300)}, fail: ${t.below(9)}`,
    (t) => `PASS: test_login_${t.below(99)} (0.${t.below(9)} s)`,
    () => `INSERT INTO users (name, password) VALUES (?, ?)`,
  ],
  "fixtures and placeholders": [
    (t) => `password: your_${t.noun()}_password`,
    (t) => `API_KEY=<your-${t.noun()}-key>`,
    () => `DB_PASSWORD=changeme`,
    (t) => `token = "example-token-${t.below(99)}"`,
    (t) => `api_key = "test-api-key-${t.below(99)}"`,
    (t) => `AWS_ACCESS_KEY_ID=AKIA${t.text(UPPER, 9)}EXAMPLE`,
    (t) => `password: "${t.of(["string", "secret", "********", "{password}", "%s", "hidden"])}"`,
    (t) => `"password": "must_be_min_${t.below(16)}_chars"`,
    (t) => `secret: my-${t.of(["app", "db", "tls"])}-secret-${t.below(9)}`,
    () => `\${DB_PASSWORD:-changeme}`,
    (t) => `Password={password};User=${t.noun()}`,
  ],
  documentation: [
    () => `The key file begins with \`-----BEGIN RSA PRIVATE KEY-----\`.`,
    (t) => `Set \`${t.name()}_TOKEN\` to a token with the scope \`${t.noun()}:read\`.`,
    (t) => `The password must have ${t.below(20) + 5} characters, a digit and a symbol.`,
    (t) => `"password": "At least ${t.below(20) + 5} characters"`,
    (t) => `See https://${t.noun()}.test/docs/reset-password/how-to-reset-your-${t.noun()}-2024 for details.`,
    (t) => `GET /v1/${t.noun()}s?page=${t.below(99)}&sort=name&session_timeout=3600`,
    (t) => `A recovery phrase has twelve words, which the wallet shows once when you create the ${t.noun()} account.`,
  ],
  chats: [
    (t) => `I forgot my password for the ${t.noun()} account, what now?`,
    (t) => `The token expires after ${t.below(60)} minutes, the session after ${t.below(9)} days.`,
    (t) => `Das Passwort muss mindestens ${t.below(20) + 5} Zeichen haben.`,
    (t) => `Das Passwort für das WLAN steht auf dem Zettel in Raum B${t.below(900)}.`,
    (t) => `Le mot de passe doit comporter ${t.below(20) + 5} caractères.`,
    (t) => `La contraseña debe tener al menos ${t.below(20) + 5} caracteres.`,
    (t) => `Пароль должен содержать не менее ${t.below(20) + 5} символов.`,
    (t) => `Забыл пароль от почты, кто поможет? Версия ${t.below(9)}.${t.below(9)}`,
    (t) => `密码至少需要${t.below(20) + 5}位，包含字母和数字。`,
    (t) => `请输入密码，然后点击确定按钮 ${t.below(9)}。`,
    (t) => `pw reset took ${t.below(60)} min, thanks ${t.noun()}!`,
    (t) => `Meet at ${t.below(12) + 1}:30 by the ${t.noun()} bridge, code word later.`,
  ],
};

/** Returns the tools that make lines from random numbers in 0..1. */
function tools(next) {
  const below = (limit) => Math.floor(next() * limit);
  const of = (list) => list[below(list.length)];
  const text = (alphabet, length) => Array.from({ length }, () => alphabet[below(alphabet.length)]).join("");
  const noun = () => of(NOUNS);
  const capital = (word) => word[0].toUpperCase() + word.slice(1);
  const words = (count) => Array.from({ length: count }, () => of(WORDS));
  const number = () => 10 + below(9989);
  const password = () =>
    of([
      () => `${noun()}${10 + below(89)}${noun()}`,
      () => `${capital(noun())}#${capital(noun())}${10 + below(89)}`,
      () => `${noun()}-${noun()}-${number() + 10}7`,
      () => `${text(ALPHANUMERIC, 9)}${below(9)}x${below(9)}`,
      () => `${capital(noun())}${text(DIGITS, 3)}!`,
    ])();
  return {
    below,
    of,
    text,
    noun,
    words,
    password,
    base64: (value) => Buffer.from(value).toString("base64"),
    camel: (count) => words(count).map(capital).join(""),
    letter: () => text(LOWER, 1),
    name: () => noun().toUpperCase(),
    phrase: () => of([`${noun()} ${10 + below(89)} ${noun()} ${noun()}`, `${capital(noun())} ${1900 + below(99)}!`]),
    signed: () =>
      `${text(ALPHANUMERIC, 5)}#${text(ALPHANUMERIC, 4)}$${below(9)}${text(ALPHANUMERIC, 3)}@${text(ALPHANUMERIC, 4)}${below(9)}`,
    uuid: () => [8, 4, 4, 4, 12].map((length) => text("0123456789abcdef", length)).join("-"),
  };
}

/** Returns `count` lines: `text`, its `kind`, and whether it has a secret. Every generator has about the same share. */
export function makeLines(seed, count) {
  const made = tools(random(seed));
  const flat = (kinds, isSecret) =>
    Object.entries(kinds).flatMap(([kind, makers]) => makers.map((make) => ({ kind, make, isSecret })));
  const groups = [flat(SECRETS, true), flat(HARMLESS, false)];
  return Array.from({ length: count }, (_, index) => {
    const group = groups[index % 2];
    const { kind, make, isSecret } = group[Math.floor(index / 2) % group.length];
    return { text: make(made), kind, isSecret };
  });
}
