"""Code: snippets whose language is beyond doubt, with the model's answer that says so."""

from .case import ODD, case, repeat

SIDES = ["input", "output"]

PYTHON = 'import os\n\n\ndef read(path):\n    with open(path) as file:\n        return [line.strip() for line in file if line]\n\n\nif __name__ == "__main__":\n    print(read("a.txt"))\n'
JAVA = 'import java.util.List;\n\npublic class Main {\n    public static void main(String[] args) {\n        List<String> names = List.of("a", "b");\n        for (String name : names) {\n            System.out.println(name);\n        }\n    }\n}\n'
GO = 'package main\n\nimport "fmt"\n\nfunc main() {\n\tch := make(chan int)\n\tgo func() { ch <- 1 }()\n\tif v := <-ch; v > 0 {\n\t\tfmt.Println("got", v)\n\t}\n}\n'
JAVASCRIPT = "const express = require('express');\nconst app = express();\n\napp.get('/', async (req, res) => {\n  const items = await load();\n  res.json(items.map((item) => item.name));\n});\n\napp.listen(3000, () => console.log('ready'));\n"
CPP = '#include <iostream>\n#include <vector>\n\nint main() {\n    std::vector<int> numbers = {1, 2, 3};\n    for (const auto& n : numbers) {\n        std::cout << n << std::endl;\n    }\n    return 0;\n}\n'
C = '#include <stdio.h>\n#include <stdlib.h>\n\nint main(int argc, char *argv[]) {\n    char *buffer = malloc(64 * sizeof(char));\n    if (buffer == NULL) {\n        fprintf(stderr, "no memory\\n");\n        return 1;\n    }\n    printf("%s\\n", argv[0]);\n    free(buffer);\n    return 0;\n}\n'
RUST = 'use std::collections::HashMap;\n\nfn main() {\n    let mut counts: HashMap<String, usize> = HashMap::new();\n    for word in "a b a".split_whitespace() {\n        *counts.entry(word.to_string()).or_insert(0) += 1;\n    }\n    println!("{:?}", counts);\n}\n'
PHP = "<?php\nfunction total(array $items): int {\n    $sum = 0;\n    foreach ($items as $key => $item) {\n        $sum += $item['price'];\n    }\n    return $sum;\n}\necho total($_POST['items']);\n"
RUBY = "require 'json'\n\nclass Person\n  attr_reader :name\n\n  def initialize(name)\n    @name = name\n  end\n\n  def to_s\n    \"Person #{@name}\"\n  end\nend\n\n[1, 2].each do |n|\n  puts n\nend\n"
SHELL_LIKE_PROSE = "The meeting was moved to Friday because two of the engineers are away this week."
CSHARP = 'using System;\nusing System.Linq;\n\nnamespace Demo\n{\n    public class Program\n    {\n        public static void Main(string[] args)\n        {\n            var even = Enumerable.Range(1, 10).Where(n => n % 2 == 0);\n            Console.WriteLine(string.Join(", ", even));\n        }\n    }\n}\n'

SNIPPETS = {"Python": PYTHON, "Java": JAVA, "Go": GO, "JavaScript": JAVASCRIPT, "C++": CPP, "C": C, "Rust": RUST, "PHP": PHP, "Ruby": RUBY, "C#": CSHARP}
NONE = {"Python": 0.08, "R": 0.06}


def sure(language: str) -> dict[str, float]:
    return {language: 0.98, "Perl" if language != "Perl" else "R": 0.01}


CASES = [
    *(case(name, text, languages=["Python"], stand_in=[NONE]) for name, text in ODD.items()),
    case("prose", SHELL_LIKE_PROSE, languages=["Python", "Java", "Go"], stand_in=[NONE]),
    case("prose where code is wanted", SHELL_LIKE_PROSE, languages=["Python"], is_blocked=False, stand_in=[NONE]),
    *(case(f"{language} is blocked", text, languages=[language], stand_in=[sure(language)]) for language, text in SNIPPETS.items()),
    *(case(f"{language} is not among the blocked", text, languages=["COBOL", "Mathematica/Wolfram Language"], stand_in=[sure(language)]) for language, text in SNIPPETS.items()),
    *(case(f"{language} is allowed", text, languages=[language], is_blocked=False, stand_in=[sure(language)]) for language, text in SNIPPETS.items()),
    *(case(f"{language} is not among the allowed", text, languages=["COBOL"], is_blocked=False, stand_in=[sure(language)]) for language, text in SNIPPETS.items()),
    case("in a code fence", f"Here you are:\n```python\n{PYTHON}```\nEnjoy!", languages=["Python"], stand_in=[sure("Python")]),
    case("in a code fence without a name", f"Here you are:\n```\n{GO}```\n", languages=["Go"], stand_in=[sure("Go")]),
    case("two code fences", f"```java\n{JAVA}```\nand\n```python\n{PYTHON}```", languages=["Python"], stand_in=[sure("Java"), sure("Python")]),
    case("CRLF", PYTHON.replace("\n", "\r\n"), languages=["Python"], stand_in=[sure("Python")]),
    case("a fence with CRLF", f"See\r\n```python\r\n{PYTHON}```".replace("\n", "\r\n"), languages=["Python"], stand_in=[sure("Python")]),
    case("a megabyte of Python", [repeat(PYTHON, 6_000)], languages=["Python"], stand_in=[sure("Python")]),
    case("an unknown language is an error", "x", languages=["Klingon"], stand_in=[NONE]),
]

# Differences from llm-guard, with reasons.
OVERLAY = {
    **{f"{language} is allowed": ({"score": -1}, "a text that passes has a score below 0; llm-guard's is 1 here") for language in SNIPPETS},
    "prose where code is wanted": ({"isValid": True, "score": -1}, "a list of allowed languages forbids the others, and does not ask for code"),
}

for one in CASES:
    if one.name in OVERLAY:
        one.expected, one.why = OVERLAY[one.name]
