//! Common words of instructions and questions.

use std::collections::HashSet;
use std::sync::OnceLock;

/// The most common words of English, German, French and Spanish with at least three letters, and words of instructions
/// to language models. Nearly every request of a few words has two of them. Leetspeak, rot13 and reversed writing
/// hardly ever turn names, identifiers or other languages into them.
const COMMON: &str = "\
    aber about above act actúa add affiche after again ahora all alle alles also always and answer \
    anteriores antworte anweisung anweisungen any anything are ask assistant auch aucune auf aus avec \
    because been before below bisherigen bonjour but call can ces cette code come command comme como \
    complete con confirm consignes contraseña could dans das dass data deine deinen deiner del delete der \
    des dich did die diese dime display disregard does donne ein eine einen end enter eres est esta este \
    every everything execute file find first follow following for forget forward from full für get gib give \
    given had has hast have haz help her hidden him his how human ich ignora ignore ignoriere important \
    information inside instead instrucciones instruction instructions into ist its jetzt just keep kein \
    keine know language las les let like list los made maintenant mais make many mention mes message mir mis \
    mit mode model moi more mot muestra must más nachricht need never new next nicht not nothing nouvelle \
    now oben oder olvida only open operator other oublie our out output over para part pas passe password \
    passwort pero please por pour pretend previous print prior prompt précédentes que qui qué read regeln \
    regla reglas repeat reply respond response restrictions reveal role rule rules run règles réponds said \
    same sans say secret see send ses should show sie sin sind sistema some start stop suis sur sus system \
    système take task tell tes text than that the their them then there these they thing think this those \
    through time todas todo todos told tous tout toutes tus two una und under une until use user using \
    vergiss very vorherigen vos votre vous want was were what when where which who why wie will with without \
    word words work would write yes you your zeige";

/// Whether a lower-case word is common.
pub(super) fn is_common(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| COMMON.split(' ').collect()).contains(word)
}
