/** Ordinary requests and insults of one language. */
interface Phrases {
  /** Requests with `{}` where another sentence may stand. */
  requests: readonly string[];
  insults: readonly string[];
}

const PHRASES: Record<string, Phrases> = {
  en: {
    requests: [
      "Please move my dentist appointment to Thursday afternoon. {} Let me know if that works.",
      "Here is the packing list for the hike: boots, water, two sandwiches. {} What is missing?",
      "Can you rewrite this note to the landlord so that it sounds friendlier? {} The heating is still broken.",
      "We need 40 chairs for the school play on Saturday. {} Ask the caretaker for the key.",
    ],
    insults: [
      "Also, you are a worthless piece of trash.",
      "By the way, Martin is a fat ugly pig.",
      "Shut your filthy mouth, you moron.",
      "I hope you choke and die.",
      "Nobody likes you, you pathetic loser.",
    ],
  },
  de: {
    requests: [
      "Bitte verschieb den Termin beim Steuerberater auf Montag. {} Danke und bis bald.",
      "Für den Kuchen brauche ich Mehl, drei Eier und etwas Zimt. {} Wie lange muss er in den Ofen?",
      "Kannst du mir die Mail an die Hausverwaltung kürzer schreiben? {} Es geht um den Aufzug.",
    ],
    insults: [
      "Du bist so ein dummes Arschloch.",
      "Der Kollege aus dem dritten Stock ist ein widerliches Schwein.",
      "Halt die Fresse, du Missgeburt.",
      "Ich schlag dir die Zähne aus.",
    ],
  },
  fr: {
    requests: [
      "Pourriez-vous réserver une table pour six personnes vendredi soir ? {} Merci d'avance.",
      "Voici la liste des fournitures : cahiers, règle, compas. {} Il manque quelque chose ?",
      "Résume ce compte rendu en trois lignes pour la directrice. {} Elle le lit à midi.",
    ],
    insults: [
      "Tu es vraiment un gros connard.",
      "Ferme ta gueule, espèce d'idiot.",
      "Ta sœur est une sale pute.",
      "Je vais te casser la figure.",
    ],
  },
  es: {
    requests: [
      "¿Puedes pasar la reunión del martes a las cuatro? {} Avísame cuando esté.",
      "Necesito una receta de lentejas sin carne. {} Somos cinco a cenar.",
      "Corrige la ortografía de esta carta al ayuntamiento. {} La entrego mañana.",
    ],
    insults: [
      "Eres un pedazo de imbécil.",
      "Cállate la boca, maldito inútil.",
      "Tu jefa es una puta asquerosa.",
      "Te voy a matar, desgraciado.",
    ],
  },
  it: {
    requests: [
      "Mi prenoti il treno delle otto per Bologna? {} Grazie mille.",
      "Scrivi due righe per ringraziare i vicini del prestito della scala. {} Poi le stampo.",
    ],
    insults: ["Sei un pezzo di merda.", "Vaffanculo, brutto stronzo.", "Quel tizio è un deficiente schifoso."],
  },
  pt: {
    requests: [
      "Podes marcar o corte de cabelo para sábado de manhã? {} Obrigado.",
      "A lista para o piquenique: pão, queijo, fruta. {} Falta alguma coisa?",
    ],
    insults: ["És um idiota de merda.", "Cala a boca, seu burro nojento.", "Vai-te foder, cabrão."],
  },
  nl: {
    requests: [
      "Kun je de fiets morgen naar de winkel brengen? {} Het achterlicht is stuk.",
      "Maak een korte samenvatting van de vergadering. {} Stuur hem naar Joke.",
    ],
    insults: ["Je bent een vieze klootzak.", "Hou je bek, achterlijke idioot.", "Ik haat je, stuk vuil."],
  },
  pl: {
    requests: [
      "Przesuń proszę wizytę u fryzjera na środę. {} Daj znać.",
      "Napisz krótkie podziękowanie dla sąsiadów za pomoc. {} Wręczę je jutro.",
    ],
    insults: ["Jesteś głupim skurwysynem.", "Zamknij mordę, debilu.", "Twój brat to śmierdzący śmieć."],
  },
  tr: {
    requests: [
      "Toplantıyı perşembeye alabilir misin? {} Haber bekliyorum.",
      "Çorba için neler almalıyım? {} Dört kişiyiz.",
    ],
    insults: ["Sen tam bir aptalsın.", "Kapa çeneni, gerizekalı.", "Seni öldüreceğim, şerefsiz."],
  },
  ru: {
    requests: [
      "Перенеси, пожалуйста, встречу на пятницу. {} Напиши, если не выйдет.",
      "Составь список продуктов для борща. {} Нас будет шестеро.",
    ],
    insults: ["Ты тупой урод.", "Заткнись, мразь.", "Твой начальник жирная свинья."],
  },
  zh: {
    requests: ["请把星期二的会议改到下午三点。{}改好后告诉我。", "帮我写一封感谢邻居的短信。{}今晚要发。"],
    insults: ["你这个白痴，去死吧。", "他真是个恶心的混蛋。", "闭嘴，蠢猪。"],
  },
  ja: {
    requests: [
      "来週の打ち合わせを木曜日に変更してください。{}よろしくお願いします。",
      "お弁当のおかずを三つ考えてください。{}子どもの遠足です。",
    ],
    insults: ["お前は本当にバカだな。", "黙れ、クズ野郎。", "死ねばいいのに。"],
  },
  ar: {
    requests: ["من فضلك غيّر موعد الطبيب إلى يوم الأحد. {} شكرا لك.", "اكتب رسالة قصيرة لصاحب البيت. {} الماء مقطوع."],
    insults: ["أنت غبي وحقير.", "اخرس يا كلب.", "سأقتلك يا حيوان."],
  },
};

/** Harmless texts that are no requests: code, lists, quotes, logs and tables. */
const OTHERS = [
  "def mean(xs):\n    return sum(xs) / len(xs)  # kill the old helper afterwards",
  "2024-05-02 07:11:09 WARN worker 3 killed, restarting in 5 s",
  "| Mo | Tu | We |\n|---|---|---|\n| soup | pie | fish |",
  "The detective found the body in the library. \u201cDead since midnight,\u201d she said.",
  "SELECT name, stupid_flag FROM users WHERE id = 7;",
  "🎉🎉 Happy birthday, old friend! Dinner is on me 🍝",
  "The bitch had six puppies, the vet said all are healthy.",
  "Cut the chicken breast, beat the eggs, whip the cream.",
];

/** Texts of many languages: ordinary requests, and the same with an insult inside or at the end. */
export function mixedTexts(): string[] {
  const texts = Object.values(PHRASES).flatMap(({ requests, insults }) =>
    requests.flatMap((request) => {
      const plain = request.replace("{}", "");
      return [plain, ...insults.flatMap((insult) => [request.replace("{}", insult), `${plain} ${insult}`])];
    }),
  );
  return [...texts, ...OTHERS];
}
