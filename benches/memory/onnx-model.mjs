// Writes a BERT classifier in fp32 with random weights, of about 130 MB, as many custom models have. Only its memory matters. An ONNX file is
// a protocol buffer (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto); this file writes the messages that it needs.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { random } from "../texts/random.mjs";

const FLOAT = 1;
const INT64 = 7;
const SIZES = { width: 384, inner: 1536, heads: 12, layers: 6 };

/** Writes a model folder with a copy of the tokenizer. The seed determines the weights. */
export function writeModel(folder, tokenizer, seed) {
  mkdirSync(folder, { recursive: true });
  const { vocab } = JSON.parse(readFileSync(tokenizer, "utf8")).model;
  writeFileSync(join(folder, "model.onnx"), model(seed, vocab.length));
  copyFileSync(tokenizer, join(folder, "tokenizer.json"));
  const labels = { 0: "SAFE", 1: "INJECTION" };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ id2label: labels, max_position_embeddings: 512 }));
}

function model(seed, vocabulary) {
  const { width, inner, heads, layers } = SIZES;
  const next = random(seed);
  const initializers = [];
  const nodes = [];
  const add = (name, type, dims, data) => {
    const bytes = new Uint8Array(data.buffer);
    initializers.push(message([...dims.map((dim) => [1, dim]), [2, type], [8, name], [9, bytes]]));
    return name;
  };
  const weights = (name, ...dims) => {
    const values = Float32Array.from({ length: dims.reduce((a, b) => a * b) }, () => (next() - 0.5) / 8);
    return add(name, FLOAT, dims, values);
  };
  const shape = (name, ...values) => add(name, INT64, [values.length], BigInt64Array.from(values, BigInt));
  const scalar = (name, value) => add(name, FLOAT, [], Float32Array.of(value));
  let count = 0;
  const op = (type, inputs, attributes = [], output = `value${count++}`) => {
    const parts = [...inputs.map((input) => [1, input]), [2, output], [4, type]];
    nodes.push(message([...parts, ...attributes.map((attribute) => [5, message(attribute)])]));
    return output;
  };
  // AttributeProto: the name, an integer or a list of integers, and the type of the attribute.
  const integer = (name, value) => [[1, name], [3, value], [20, 2]]; // biome-ignore format: one line for each kind
  const integers = (name, values) => [[1, name], ...values.map((value) => [8, value]), [20, 7]]; // biome-ignore format: the same
  const linear = (input, name, from, to) =>
    op("Add", [op("MatMul", [input, weights(`${name}.weight`, from, to)]), weights(`${name}.bias`, to)]);
  const norm = (input, name) =>
    op("LayerNormalization", [input, weights(`${name}.scale`, width), weights(`${name}.shift`, width)]);

  shape("split", 0, 0, heads, width / heads);
  shape("joined", 0, 0, width);
  shape("heads and rows", 1, 2);
  shape("tokens", 1);
  scalar("one", 1);
  scalar("never", -1e4);
  scalar("scale", Math.sqrt(heads / width));
  const mask = op("Cast", ["attention_mask"], [integer("to", FLOAT)]);
  const hidden = op("Mul", [op("Sub", ["one", mask]), "never"]);
  const bias = op("Unsqueeze", [hidden, "heads and rows"]);
  let state = norm(op("Gather", [weights("words", vocabulary, width), "input_ids"]), "start");
  for (let layer = 0; layer < layers; layer++) {
    const [query, key, value] = ["query", "key", "value"].map((name) =>
      op("Reshape", [linear(state, `${layer}.${name}`, width, width), "split"]),
    );
    const turned = (input, order) => op("Transpose", [input], [integers("perm", order)]);
    const match = op("MatMul", [turned(query, [0, 2, 1, 3]), turned(key, [0, 2, 3, 1])]);
    const shares = op("Softmax", [op("Add", [op("Mul", [match, "scale"]), bias])]);
    const seen = turned(op("MatMul", [shares, turned(value, [0, 2, 1, 3])]), [0, 2, 1, 3]);
    const mixed = linear(op("Reshape", [seen, "joined"]), `${layer}.mixed`, width, width);
    state = norm(op("Add", [state, mixed]), `${layer}.first`);
    const wide = op("Gelu", [linear(state, `${layer}.wide`, width, inner)]);
    state = norm(op("Add", [state, linear(wide, `${layer}.narrow`, inner, width)]), `${layer}.second`);
  }
  const mean = op("ReduceMean", [state, "tokens"], [integer("keepdims", 0)]);
  op("Add", [op("MatMul", [mean, weights("head.weight", width, 2)]), weights("head.bias", 2)], [], "logits");

  const put = (name, type, ...dims) => {
    const dimensions = dims.map((dim) => [1, message([typeof dim === "string" ? [2, dim] : [1, dim]])]);
    const tensor = message([[1, type], [2, message(dimensions)]]); // biome-ignore format: a type and a shape
    return message([[1, name], [2, message([[1, tensor]])]]); // biome-ignore format: a name and a type
  };
  const graph = message([
    ...nodes.map((node) => [1, node]),
    [2, "bert"],
    ...initializers.map((tensor) => [5, tensor]),
    ...["input_ids", "attention_mask"].map((name) => [11, put(name, INT64, "rows", "length")]),
    [12, put("logits", FLOAT, "rows", 2)],
  ]);
  // The format version, the graph, and the operator version: the first with Gelu.
  return message([[1, 9], [7, graph], [8, message([[1, ""], [2, 20]])]]); // biome-ignore format: one line
}

/** A message of fields, whose values are numbers, strings, messages or bytes. */
function message(fields) {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === "number") return [varint(number << 3), varint(value)];
      const content = typeof value === "string" ? Buffer.from(value) : value;
      return [varint((number << 3) | 2), varint(content.length), content];
    }),
  );
}

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}
