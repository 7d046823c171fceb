//! Measures signs of syntax, which programs have and prose lacks.
//!
//! The model of [`code`](super::code) has seen little text that only looks like code, such as lists, forms, invoices,
//! error messages, formulas and schedules, and calls many of them code with a high probability. So a piece also needs
//! signs of syntax, unless a fence calls it code: calls, blocks, assignments, declarations, tags, command flags. Each
//! line counts by its best sign.
//!
//! The patterns follow the syntax of the model's languages, and were checked on the samples of linguist and of
//! highlighters that the model's card names. Of windows of 6 to 20 lines, about one in fifty has too few signs; most of
//! these are licences and other comments.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// The weight of a line that is almost surely code.
const SIGN: f32 = 1.0;
/// The weight of a line with weak evidence: two such lines count as one line of code.
const HINT: f32 = 0.5;
/// The weight of a line with weaker evidence, such as an assignment of a number (`x = 5`), which may be mathematics.
/// Three such lines count as one line of code.
const TRACE: f32 = 0.34;
/// The share of lines with signs that makes a long piece code.
const SHARE: f32 = 0.08;
/// The most bytes of a line that are checked. Longer lines have their signs at the start.
const LINE: usize = 512;

/// Weights, and the patterns of lines without the white space around them.
const PATTERNS: &[(f32, &str)] = &[
    (SIGN, r##"[(){}=\[\]<>*&$"'].*;\s*(//.*|/\*.*|#.*)?$"##),
    (
        SIGN,
        r##"^(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|GRANT|WITH|select|insert|update|delete|create|drop|alter)\s.*(\b(TABLE|DATABASE|VALUES|WHERE|JOIN|GROUP BY|ORDER BY|VIEW|INDEX|where|values|table|join)\b.*[;*=(]|\bDROP TABLE\b|\bFROM\b.*[;*=]|[*=].*\b(FROM|from)\b)"##,
    ),
    (
        HINT,
        r##"^(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|DROP TABLE|FROM|WHERE|GROUP BY|ORDER BY|(LEFT |INNER )?JOIN|VALUES|SET)\s+["\w*(]"##,
    ),
    (SIGN, r##"([\w)\]>=]\s*|^)\{\s*(//.*)?$"##),
    (SIGN, r##"^[}\])]+[;,)]*(\s*else\s*\{)?$"##),
    (SIGN, r##"\b[A-Za-z_]\w*(\.|::|->|\?\.)[A-Za-z_]\w*!?\("##),
    (
        SIGN,
        r##"\b[A-Za-z_]\w{2,}!?\((\)|["'\[{&*]|[^()]*["'\[{&*][^()]*\)|\w+(,\s*\w+)*\)[;{:]|\w+(,\s*\w+)+\))"##,
    ),
    (HINT, r##"\b[A-Za-z_]\w{2,}\(\w+\)?$"##),
    (
        SIGN,
        r##"[\w)\]] ?(==|!=|===|!==|:=|\+=|-=|\*=|/=|\|\||&&|=>|<<|>>|=~) ?[\w("'\[{$!&-]"##,
    ),
    (
        SIGN,
        r##"[A-Za-z_]\w*::[A-Za-z_<*]|\w->\w|\w\+\+|^\s*[\w$.]+ <- |\[\d+\.\.\d*\]|\w :: \w"##,
    ),
    (TRACE, r##"^[A-Za-z_$@][\w.$\[\]'"-]* ?= ?\S"##),
    (
        SIGN,
        r##"^[A-Za-z_$@][\w.$\[\]'"-]* ?=\s*(["'\[]|\{\s*["'}]|new\s|[A-Za-z_][\w.]*\w\(|function|lambda|async|await|true\b|false\b|null\b|True\b|False\b|None\b)"##,
    ),
    (
        SIGN,
        r##"^((export|public|private|protected|internal|static|async|pub(\(\w+\))?|final|abstract|override|unsafe|inline|virtual|default|local|open|data|sealed|partial)\s+)*(def\s+[\w.?!=]+\s*[(:]?|fn\s+\w+|func\s+[\w(]|fun\s+[\w<.]+\s*\(|function\s*[\w.:*]*\s*\(|sub\s+\w+\s*\{|class\s+\w+\s*([({:<]|$|extends|implements|<)|interface\s+\w+\s*[{<]|struct\s+\w+\s*[{;(<]|enum\s+\w+\s*\{|trait\s+\w+|impl[\s<]|namespace\s+[\w.]+\s*[;{]|module\s+\w+[\s({;]*$|void\s+\w+\s*\(|type\s+\w+(<.*>)?\s*=|object\s+\w+)"##,
    ),
    (
        SIGN,
        r##"^(import\s+[\w.*{}, ]+\s+from\s+["']|import\s+["'(<]|import\s+[\w.]+\s+as\s|import\s+(static\s+)?\w+(\.\w+)+(\.\*)?;?$|from\s+[\w.]+\s+import\s|#\s*(include|define|ifdef|ifndef|endif|pragma)\b|using\s+[\w.:= ]+;|package\s+[\w.]+;?$|use\s+[\w:\\]+.*;|require\s*\(?["']|library\(|source\s+\S+\.sh|@import\b|#!/|<\?(php|xml)|-module\(|open\s+[A-Z]\w+$|\s*\(\s*(def|defn|define|let|lambda|ns|require|setq|defun|defmacro|if|cond)\s)"##,
    ),
    (HINT, r##"^(import|require|include|use|using)\s+[\w.]+$"##),
    (
        SIGN,
        r##"^(\}\s*)?(if|for|while|switch|catch|foreach|elseif|else if|until|unless)\s*\(.*\)\s*(\{|then|;|:|$)"##,
    ),
    (
        HINT,
        r##"^(if|elif|else|for|while|try|except|finally|with|unless|case|when|do|begin|then)\b.*(:|\bthen|\bdo|\{)$"##,
    ),
    (HINT, r##"^return\b\s*[\w"'(\[{!-]*[\w)"'\]}.]*;?$"##),
    (
        SIGN,
        r##"^(const|let|var|val|my|our|local|auto|mut|static|final|dim)\s+(mut\s+)?[$@%]?[\w{\[,:<>\s$]+\s*=\s"##,
    ),
    (
        SIGN,
        r##"^(const\s+|unsigned\s+|static\s+)*(int|float|double|char|bool|boolean|long|short|byte|string|String|void|auto|size_t|uint\d*_t|i32|u8|f64|Int|var)\s*[*&<\[\]]*\s+[*&]?\w+\s*([=;(\[]|,\s*\w+;)"##,
    ),
    (
        SIGN,
        r##"</\w[\w:-]*>|<\w[\w:-]*(\s+[\w:@.-]+=("|'|\{))|<!DOCTYPE|<!--|<%|%>|\{%\s|<\w+\s*/>"##,
    ),
    (
        SIGN,
        r##"^(\$ |# |> )?(sudo\s+)?[a-z][\w./+-]*\s(.*\s)?--?[A-Za-z][\w-]*([\s=].*)?$"##,
    ),
    (
        SIGN,
        r##"\$[A-Za-z_{(]\w*|\|\s*(sudo|bash|sh|grep|sort|xargs|awk|sed|head|tail|wc|less|tee|jq|cut|uniq)\b|\s2?>&1|>\s*/dev/null|@echo\b|%\w+%"##,
    ),
    (
        HINT,
        r##"^(\$ )?(sudo|cd|ls|rm|mkdir|cp|mv|chmod|chown|curl|wget|tar|git|npm|npx|pip3?|apt|apt-get|yum|docker|kubectl|export|source|echo|cat|yarn|brew|cargo|node|python3?|ssh|scp|unzip|touch|grep|find|systemctl|service|make|go|\./[\w./-]+)\s+[\w./~"'$@-]+"##,
    ),
    (
        SIGN,
        r##"\b[A-Z][a-z]+-[A-Z]\w+\b.*\s-[A-Z]|\bWrite-(Host|Output)\b|\bGet-[A-Z]\w+"##,
    ),
    (SIGN, r##"^["'][\w$ .-]+["']\s*:\s*(["'\[{\d-]|true|false|null)"##),
    (SIGN, r##"\{\s*["'][^"']+["']\s*:"##),
    (SIGN, r##"^[\w.#:>*,\s\[\]="'()@-]+\{[^{}]*[\w-]+\s*:[^{}]*\}"##),
    (HINT, r##"^[a-z-]+:\s*[^;:]+;$"##),
    (SIGN, r##"^@\w+(\.\w+)*(\(|$)|^\[[A-Z]\w+\(.*\)\]$|^#\["##),
    (
        SIGN,
        r##"^(end|end;|end\.|endif|endmodule|esac|fi|done|begin|BEGIN|pass|break;?|continue;?|nil|then|else:?|do|loop|wend|endfunction|endwhile|end (if|sub|function|do|program|loop|module|select|process|architecture)\b.*)$"##,
    ),
    (
        SIGN,
        r##"\bdo\s*\|[\w, ]+\||\bEnd (Sub|Function|If|Class)\b|^Dim\s+\w+|\bDIVISION\.|^(\s*\d{6})?\s*(PROCEDURE|MOVE|PERFORM|DISPLAY)\s|\binto\b.*\bend\b|^\s*(program|subroutine|implicit none)\b|->\s*$|\bendmodule\b|\balways\s*@|<=\s*\w+;"##,
    ),
    (
        HINT,
        r##"^(FROM|RUN|COPY|CMD|ENTRYPOINT|WORKDIR|ENV|EXPOSE|ADD|ARG|USER|VOLUME)\s+[\["\w./$]"##,
    ),
    (
        HINT,
        r##"^(\w+:\s*)?(mov[lqwzs]*|push[lq]?|pop[lq]?|callq?|jmp|je|jne|jz|jnz|addq?|subq?|int|lea[lq]?|cmp[lq]?|xor|ldr|str|bl|bx|li|lw|sw|addi|nop|ret)\s+[\w%$\[#]"##,
    ),
    (
        SIGN,
        r##"^(---|\+\+\+) ([ab]/|\S+\.\w)|^@@ .*@@|^diff --git|^index [0-9a-f]{7}"##,
    ),
    (
        HINT,
        r##"^\[[a-z][\w.-]*\]$|^[a-z][\w.]*[_.]\w+\s*[:=]\s*\S|^[a-z_][\w-]*:$|^\s+[a-z_][\w-]*:(\s|$)"##,
    ),
    (TRACE, r##"\b[a-z]\w*_\w+\b|\b[a-z]+[A-Z]\w+\b"##),
    (HINT, r##"\)\)\)?$|^\(\w[\w-]*\s"##),
    (
        SIGN,
        r##"\\(begin|documentclass|usepackage|section|newcommand|end)\b[\[{]"##,
    ),
    (SIGN, r##"^(//|/\*|\*/|\(\*|;;)\s?\S*"##),
];

static LINES: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSetBuilder::new(PATTERNS.iter().map(|(_, pattern)| pattern))
        .unicode(false)
        .build()
        .expect("the patterns are valid")
});

/// The beginnings of log lines: a date or a time, bracketed or not, or the name of a level. The message of a log line
/// may look like code, but is not.
static LOG: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"\d{1,4}[-/.:]\d{1,2}[-/.:T ]\d|\d{8,}[ ,.]";
    let name =
        r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*,? +([A-Z][a-z]+ +)?\d";
    let level = r"(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|trace|debug|info|notice|warn|warning|error|fatal)[\]: ]";
    let address = r"\d{1,3}(\.\d{1,3}){3} \S+ \S+ \[";
    RegexBuilder::new(&format!(r"^[\[(<]?({date}|{name}|{level}|{address})"))
        .unicode(false)
        .build()
        .expect("the pattern is valid")
});

/// Entries of lists that people write, such as the ingredients of a recipe: words, a colon, and words or an amount.
/// Their indentation is no sign of syntax.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(
        r"^[A-Za-z\x80-\xff][A-Za-z\x80-\xff ']{0,40}: [\w\x80-\xff]([\w\x80-\xff %.,'-]{0,80}[\w\x80-\xff%.])?$",
    )
    .unicode(false)
    .build()
    .expect("the pattern is valid")
});

/// How much a piece looks like code, from 0 without any syntax to 1 with enough. The time is linear in the length of
/// the piece.
pub fn signs(piece: &str) -> f32 {
    let (mut sum, mut lines) = (0.0f32, 0.0f32);
    for line in piece.lines() {
        let content = line.trim();
        if !content.is_empty() {
            sum += of_line(line, content);
            lines += 1.0;
        }
    }
    (sum / (SHARE * lines).max(SIGN)).min(1.0)
}

fn of_line(line: &str, content: &str) -> f32 {
    let bytes = content.as_bytes();
    if LOG.is_match(&bytes[..bytes.len().min(LINE)]) {
        return 0.0;
    }
    // List items are indented too.
    let is_item = bytes[0].is_ascii_digit() || matches!(bytes[0], b'-' | b'*' | b'+' | b'>') || !bytes[0].is_ascii();
    let is_indented = (line.starts_with('\t') || line.starts_with("  ")) && !is_item && !ENTRY.is_match(bytes);
    LINES
        .matches(&bytes[..bytes.len().min(LINE)])
        .iter()
        .map(|index| PATTERNS[index].0)
        .fold(if is_indented { TRACE } else { 0.0 }, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_show_syntax() {
        for code in [
            "def add(a, b):\n    return a + b",
            "const a = [1, 2].map(x => x * 2);",
            "#include <stdio.h>",
            "if err != nil {\n\treturn err\n}",
            "x <- c(1, 2, 3)\nmean(x)",
            "SELECT name FROM users WHERE id = 7;",
            "cd /tmp\nwget https://example.com/a.tar.gz\ntar xzf a.tar.gz",
            "curl -s https://example.com/a.sh | sudo bash",
            "<div class=\"box\"><p>Hi</p></div>",
            "a { color: red; }",
            "{\"a\": 1, \"b\": [1, 2]}",
            "services:\n  web:\n    image: nginx",
            "FROM node:20\nRUN npm ci",
            "mov eax, 1\nint 0x80",
        ] {
            assert!(signs(code) >= 1.0, "{code}");
        }
    }

    #[test]
    fn prose_shows_none() {
        for prose in [
            "",
            "- milk\n- bread\n- 3 apples",
            "Dough:\n  flour: 300 g\n  olive oil: 2 spoons\n  salt: some",
            "Zutaten:\n    Äpfel: 4\n    Zucker: nach Geschmack",
            "Error: file not found",
            "Name: Anna Schmidt\nAge: 34",
            "INVOICE #1042\nQty  Item  Amount\n2    Chair  $240.00",
            "2024-05-01 12:30:45 INFO Server started on port 8080",
            "[12:30:45] retry(count=3, delay=\"1s\")",
            "May  1 12:30:45 host sshd[1234]: Failed password for root",
            "ERROR: connect(\"db\") failed",
            "C6H12O6 + 6 O2 -> 6 CO2 + 6 H2O",
            "a^2 + b^2 = c^2",
            "1. Preheat the oven to 200 °C.\n2. Mix flour, sugar and eggs.",
            "run npm install",
            "Rough winds do shake the darling buds of May;\nAnd summer's lease hath all too short a date.",
        ] {
            assert!(signs(prose) < 0.01, "{prose}");
        }
        assert!(signs("x = 5") < 0.5);
    }
}
