import { assertOnnxRuntime, type ModelUse } from './onnx-runtime.ts'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Tokenizer } from '@huggingface/tokenizers'
import { familyOfModel, type ModelFamily } from '../embedders/model-family.ts'
import { downloadModel } from './onnx-download.ts'

export interface OnnxModelOptions {
  /** A folder with config.json, tokenizer.json and onnx/model*.onnx. */
  modelFolder?: string
  /** Or a model of the hub (`BAAI/bge-small-en-v1.5`), downloaded once into `cacheFolder`. */
  modelId?: string
  cacheFolder?: string
  /** False: only what is in the cache. Default true. */
  allowDownload?: boolean
  /** The download source of models; default the public hub. */
  hubUrl?: string
  /** For downloads; default the global one, without the proxies of the configuration. */
  fetch?: typeof fetch
  /** Weights: fp32, fp16, q8, … Default: the first of q8 and fp32 that is in the folder, q8 from the hub. */
  dtype?: string
  /** CPU threads of the model; default all but one. */
  threads?: number
}

export type { Tokenizer }

/** Used where the model's files name no limit. */
const defaultMaximumTokens = 512
/** Upper bound of the limit in a model's files: the cost of attention grows with the square. */
const maximumModelTokens = 8_192

/** Weight files by kind, as exports name them; the small one first. */
const weightFiles: [dtype: string, file: string][] = [
  ['q8', 'onnx/model_quantized.onnx'],
  ['int8', 'onnx/model_int8.onnx'],
  ['fp32', 'onnx/model.onnx'],
  ['fp16', 'onnx/model_fp16.onnx'],
]

interface ModelSource {
  name: string
  folder: string | null
  cacheFolder: string | null
}

function sourceOf(options: OnnxModelOptions, { settings }: ModelUse): ModelSource {
  if (options.modelFolder !== undefined) {
    const folder = path.resolve(options.modelFolder)
    return { name: options.modelId ?? path.basename(folder), folder, cacheFolder: null }
  }
  if (options.modelId === undefined) throw new Error(`${settings}: name a model or a folder with its weights`)
  return { name: options.modelId, folder: null, cacheFolder: path.resolve(options.cacheFolder ?? 'models') }
}

export function howToGet(name: string, { settings, variable }: ModelUse): string {
  return (
    `Get the weights on a machine with internet (the model's page on the hub, files config.json, tokenizer.json, ` +
    `tokenizer_config.json and onnx/model_quantized.onnx or onnx/model.onnx), put them into one folder in the same layout ` +
    `and name it in ${settings}.folder (${variable}); ${settings}.model stays ${name}.`
  )
}

function assertFiles(folder: string, dtype: string | undefined, use: ModelUse): void {
  const missing = ['config.json', 'tokenizer.json'].filter((file) => !existsSync(path.join(folder, file)))
  if (
    !weightFiles.some(([kind, file]) => (dtype === undefined || dtype === kind) && existsSync(path.join(folder, file)))
  ) {
    missing.push(
      dtype === undefined
        ? 'onnx/model.onnx'
        : (weightFiles.find(([kind]) => kind === dtype)?.[1] ?? `weights of kind ${dtype}`),
    )
  }
  if (missing.length === 0) return
  throw new Error(
    `The folder of the ${use.noun}, ${folder}, lacks ${missing.join(', ')}. ${howToGet(path.basename(folder), use)}`,
  )
}

/** The file of these weights in a model's folder. */
function weightsFile(dtype: string): string {
  const found = weightFiles.find(([kind]) => kind === dtype)
  if (!found)
    throw new Error(`weights of kind ${dtype} are not supported: ${weightFiles.map(([kind]) => kind).join(', ')}`)
  return found[1]
}

function firstWeights(folder: string): [dtype: string, file: string] | undefined {
  return weightFiles.find(([, file]) => existsSync(path.join(folder, file)))
}

/** A model whose files are there. */
export interface OpenedModel {
  name: string
  folder: string
  /** The absolute path of the weights. */
  weights: string
  dtype: string | undefined
}

/** The files of a model, downloaded if it is one of the hub and not in the cache. The error contains instructions. */
export async function openModelFiles(options: OnnxModelOptions, use: ModelUse): Promise<OpenedModel> {
  assertOnnxRuntime(use)
  const source = sourceOf(options, use)
  const dtype = options.dtype ?? (source.folder === null ? 'q8' : firstWeights(source.folder)?.[0])
  const folder = source.folder ?? (await ensureCached(source, weightsFile(dtype!), options, use))
  assertFiles(folder, dtype, use)
  return { name: source.name, folder, weights: path.join(folder, weightsFile(dtype!)), dtype }
}

/** The folder of a model of the hub. */
async function ensureCached(
  { name, cacheFolder }: ModelSource,
  weights: string,
  { allowDownload = true, hubUrl, fetch }: OnnxModelOptions,
  use: ModelUse,
): Promise<string> {
  const folder = path.join(cacheFolder!, name)
  if (['config.json', 'tokenizer.json', weights].every((file) => existsSync(path.join(folder, file)))) return folder
  try {
    if (!allowDownload) throw new Error('it has not been downloaded.')
    await downloadModel({ cacheFolder: cacheFolder!, modelId: name, weights, hubUrl, fetch })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The ${use.noun} ${name} could not be loaded: ${reason} ${howToGet(name, use)}`, { cause: error })
  }
  return folder
}

export interface ReadModel {
  family: ModelFamily
  tokenizer: Tokenizer
  maximumTokens: number
}

export async function readModel(folder: string, name: string, given: Partial<ModelFamily> = {}): Promise<ReadModel> {
  const config = await readJson(folder, 'config.json')
  const known = familyOfModel(`${name} ${String(config['_name_or_path'] ?? '')}`, {
    config,
    pooling: await readOptionalJson(folder, '1_Pooling/config.json'),
    sentenceTransformers: await readOptionalJson(folder, 'config_sentence_transformers.json'),
  })
  return {
    family: { ...known, ...given },
    tokenizer: (await readTokenizer(folder)).tokenizer,
    maximumTokens: await readMaximumTokens(folder),
  }
}

/** The longest input that the files of a model state. */
export async function readMaximumTokens(folder: string): Promise<number> {
  const config = await readJson(folder, 'config.json')
  const tokenizerConfig = (await readOptionalJson(folder, 'tokenizer_config.json')) ?? {}
  const sentence = await readOptionalJson(folder, 'sentence_bert_config.json')
  const limits = [sentence?.['max_seq_length'], tokenizerConfig['model_max_length'], config['max_position_embeddings']]
  const stated = limits.filter(
    (limit) => typeof limit === 'number' && limit > 0 && limit <= maximumModelTokens,
  ) as number[]
  return Math.min(...(stated.length > 0 ? stated : [defaultMaximumTokens]))
}

/** The model's tokenizer, and the id that pads shorter texts of a batch. */
export async function readTokenizer(folder: string): Promise<{ tokenizer: Tokenizer; padId: number }> {
  const config = (await readOptionalJson(folder, 'tokenizer_config.json')) ?? {}
  // Loaded on first use: without a local model it must not slow down the start.
  const { Tokenizer } = await import('@huggingface/tokenizers')
  const tokenizer = new Tokenizer(await readJson(folder, 'tokenizer.json'), config)
  const stated = config['pad_token'] as string | { content?: string } | undefined
  const padToken = (typeof stated === 'object' ? stated?.content : stated) ?? '[PAD]'
  return { tokenizer, padId: tokenizer.token_to_id(padToken) ?? 0 }
}

async function readJson(folder: string, file: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Record<string, unknown>
}

async function readOptionalJson(folder: string, file: string): Promise<Record<string, unknown> | null> {
  return existsSync(path.join(folder, file)) ? readJson(folder, file) : null
}

/** Changes with the weights, the pooling and the prefixes: vectors of two digests must not be in one index. */
export async function digestOf(
  folder: string,
  dtype: string | undefined,
  family: ModelFamily,
  dimensions: number,
): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([family.pooling, family.queryPrefix, family.passagePrefix, dimensions]),
  )
  const weights = weightFiles.find(
    ([kind, file]) => (dtype === undefined || kind === dtype) && existsSync(path.join(folder, file)),
  )
  if (weights) for await (const piece of createReadStream(path.join(folder, weights[1]))) hash.update(piece as Buffer)
  return hash.digest('hex').slice(0, 12)
}
