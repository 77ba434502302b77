/**
 * Makes a sentence-embedding model of a few kilobytes in the layout of a real one (config.json, tokenizer.json, onnx/model.onnx), to
 * test the loading code without weights: `bin/run scripts/make-tiny-onnx.ts FOLDER`. Its vocabulary has groups of
 * words with the same vector, so that a test can distinguish meaning from spelling. `--cross-encoder` makes a reranker of the same words instead.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export const tinyModelDimensions = 32
export const tinyModelMaximumTokens = 64

/** Words with one meaning; each group has a separate direction. */
export const tinyModelMeanings = [
  ['car', 'automobile', 'vehicle', 'wagen', 'voiture'],
  ['doctor', 'physician', 'medic', 'arzt'],
  ['house', 'home', 'building', 'haus'],
  ['money', 'cash', 'payment', 'geld'],
  ['fast', 'quick', 'rapid', 'schnell'],
  ['dog', 'hound', 'hund', 'chien'],
  ['holiday', 'vacation', 'leave', 'urlaub'],
  ['repair', 'fix', 'mend', 'reparatur'],
] as const

const specialTokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']
const pieces = [...'abcdefghijklmnopqrstuvwxyz0123456789'].flatMap((character) => [character, `##${character}`])

const vocabulary = [...specialTokens, ...tinyModelMeanings.flat(), ...pieces]

/** Writes the model into `folder`, which is made where it is missing. */
export function makeTinyOnnx(folder: string): void {
  writeModel(folder, embeddingLookupModel(vocabulary.map(vectorOf)))
  mkdirSync(path.join(folder, '1_Pooling'), { recursive: true })
  writeJson(folder, '1_Pooling/config.json', { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false })
}

/** Writes a cross-encoder: the more words of the second text share a meaning with words of the first, the higher is its score. */
export function makeTinyCrossEncoder(folder: string): void {
  writeModel(folder, crossEncoderModel(vocabulary.map(vectorOf)))
}

function writeModel(folder: string, weights: Uint8Array): void {
  mkdirSync(path.join(folder, 'onnx'), { recursive: true })
  writeJson(folder, 'config.json', {
    model_type: 'bert',
    architectures: ['BertModel'],
    hidden_size: tinyModelDimensions,
    vocab_size: vocabulary.length,
    max_position_embeddings: tinyModelMaximumTokens,
  })
  writeJson(folder, 'tokenizer_config.json', {
    tokenizer_class: 'BertTokenizer',
    model_max_length: tinyModelMaximumTokens,
    pad_token: '[PAD]',
    unk_token: '[UNK]',
    cls_token: '[CLS]',
    sep_token: '[SEP]',
  })
  writeJson(folder, 'tokenizer.json', tokenizer())
  writeFileSync(path.join(folder, 'onnx/model.onnx'), weights)
}

function writeJson(folder: string, file: string, value: unknown): void {
  writeFileSync(path.join(folder, file), `${JSON.stringify(value, null, 2)}\n`)
}

function tokenizer(): object {
  const special = (content: string) => ({
    id: vocabulary.indexOf(content),
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specialTokens.map(special),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
        { Sequence: { id: 'B', type_id: 1 } },
        { SpecialToken: { id: '[SEP]', type_id: 1 } },
      ],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((token) => [token, { id: token, ids: [vocabulary.indexOf(token)], tokens: [token] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
    },
  }
}

/** The words of a group share their vector. Special tokens have a zero vector, letters have small different ones. */
function vectorOf(token: string): Float32Array {
  const vector = new Float32Array(tinyModelDimensions)
  const group = tinyModelMeanings.findIndex((words) => (words as readonly string[]).includes(token))
  if (group >= 0) vector[group] = 1
  else if (!specialTokens.includes(token)) vector[8 + (token.codePointAt(token.length - 1)! % 24)] = 0.05
  return vector
}

/**
 * The graph `last_hidden_state = Gather(table, input_ids)`. All graphs are ONNX's protobuf messages written by hand (onnx.proto3: the
 * numbers are its field numbers).
 */
function embeddingLookupModel(table: readonly Float32Array[]): Uint8Array {
  return model({
    nodes: [node('Gather', ['table', 'input_ids'], 'last_hidden_state')],
    initializers: [tableOf(table)],
    inputs: ['input_ids', 'attention_mask'],
    output: value('last_hidden_state', elementTypes.float, ['texts', 'tokens', tinyModelDimensions]),
  })
}

/** `logits = sum(sum(first text) * sum(second text))`, where `token_type_ids` state which text a token is of. */
function crossEncoderModel(table: readonly Float32Array[]): Uint8Array {
  const noDimensions = integerAttribute('keepdims', 0)
  return model({
    nodes: [
      node('Gather', ['table', 'input_ids'], 'vectors'),
      node('Cast', ['token_type_ids'], 'types', [integerAttribute('to', elementTypes.float)]),
      node('Unsqueeze', ['types', 'two'], 'is_second'),
      node('Mul', ['vectors', 'is_second'], 'second_vectors'),
      node('Sub', ['vectors', 'second_vectors'], 'first_vectors'),
      node('ReduceSum', ['first_vectors', 'one'], 'first', [noDimensions]),
      node('ReduceSum', ['second_vectors', 'one'], 'second', [noDimensions]),
      node('Mul', ['first', 'second'], 'products'),
      node('ReduceSum', ['products', 'one'], 'logits'),
    ],
    initializers: [tableOf(table), axis('one', 1), axis('two', 2)],
    inputs: ['input_ids', 'attention_mask', 'token_type_ids'],
    output: value('logits', elementTypes.float, ['texts', 1]),
  })
}

function model({
  nodes,
  initializers,
  inputs,
  output,
}: {
  nodes: Uint8Array[]
  initializers: Uint8Array[]
  /** Integers, one for each token. */
  inputs: string[]
  output: Uint8Array
}): Uint8Array {
  const graph = message(
    ...nodes.map((one) => bytes(1, one)),
    text(2, 'tiny'),
    ...initializers.map((one) => bytes(5, one)),
    ...inputs.map((name) => bytes(11, value(name, elementTypes.int64, ['texts', 'tokens']))),
    bytes(12, output),
  )
  const operatorSet = message(text(1, ''), integer(2, 13))
  return message(integer(1, 8), text(2, 'portico'), bytes(7, graph), bytes(8, operatorSet))
}

function node(operator: string, inputs: string[], output: string, attributes: Uint8Array[] = []): Uint8Array {
  return message(
    ...inputs.map((name) => text(1, name)),
    text(2, output),
    text(3, `make_${output}`),
    text(4, operator),
    ...attributes.map((one) => bytes(5, one)),
  )
}

/** AttributeProto of the type INT, 2. */
function integerAttribute(name: string, number: number): Uint8Array {
  return message(text(1, name), integer(3, number), integer(20, 2))
}

function tableOf(table: readonly Float32Array[]): Uint8Array {
  const weights = new Float32Array(table.length * tinyModelDimensions)
  for (const [row, vector] of table.entries()) weights.set(vector, row * tinyModelDimensions)
  return message(
    integer(1, table.length),
    integer(1, tinyModelDimensions),
    integer(2, elementTypes.float),
    text(8, 'table'),
    bytes(9, new Uint8Array(weights.buffer)),
  )
}

function axis(name: string, number: number): Uint8Array {
  const values = new Uint8Array(new BigInt64Array([BigInt(number)]).buffer)
  return message(integer(1, 1), integer(2, elementTypes.int64), text(8, name), bytes(9, values))
}

/** TensorProto.DataType */
const elementTypes = { float: 1, int64: 7 }

function value(name: string, elementType: number, shape: readonly (string | number)[]): Uint8Array {
  const dimensions = shape.map((size) => bytes(1, typeof size === 'number' ? integer(1, size) : text(2, size)))
  const tensor = message(integer(1, elementType), bytes(2, message(...dimensions)))
  return message(text(1, name), bytes(2, bytes(1, tensor)))
}

function message(...fields: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(fields))
}

function integer(field: number, number: number): Uint8Array {
  return message(variableInteger(field * 8), variableInteger(number))
}

function text(field: number, content: string): Uint8Array {
  return bytes(field, new TextEncoder().encode(content))
}

function bytes(field: number, content: Uint8Array): Uint8Array {
  return message(variableInteger(field * 8 + 2), variableInteger(content.length), content)
}

function variableInteger(number: number): Uint8Array {
  const found: number[] = []
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return new Uint8Array([...found, rest])
    found.push((rest % 128) + 128)
  }
}

if (import.meta.main) {
  const folder = process.argv.find((given, index) => index > 1 && !given.startsWith('--'))
  if (folder === undefined) {
    console.error('Give the folder to write the model to.')
    process.exitCode = 1
  } else if (process.argv.includes('--cross-encoder')) makeTinyCrossEncoder(path.resolve(folder))
  else makeTinyOnnx(path.resolve(folder))
}
