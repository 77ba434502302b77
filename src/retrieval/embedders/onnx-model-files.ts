import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import { familyOfModel, type ModelFamily } from './model-family.ts'

export interface OnnxEmbedderOptions {
  /** A folder with config.json, tokenizer.json and onnx/model*.onnx. */
  modelFolder?: string
  /** Or a model of the hub (`BAAI/bge-small-en-v1.5`), downloaded once into `cacheFolder`. */
  modelId?: string
  cacheFolder?: string
  /** False: only what is in the cache. Default true. */
  allowDownload?: boolean
  /** The download source of models; default the public hub. */
  hubUrl?: string
  /** Weights: fp32, fp16, q8, … Default: the first of q8 and fp32 that is in the folder, q8 from the hub. */
  dtype?: string
  /** Keep this many first dimensions; for models trained for it (Matryoshka). */
  dimensions?: number
  /** CPU threads of the model; default all but one. */
  threads?: number
  /** Overrides the settings by the model's files and name. */
  family?: Partial<ModelFamily>
}

export type { Tokenizer }

/** Used where the model's files name no limit. */
export const defaultMaximumTokens = 512
/** Upper bound of the limit in a model's files: the cost of attention grows with the square. */
const maximumModelTokens = 8_192

/** Weight files by kind, as exports name them; the small one first. */
const weightFiles: [dtype: string, file: string][] = [
  ['q8', 'onnx/model_quantized.onnx'],
  ['int8', 'onnx/model_int8.onnx'],
  ['fp32', 'onnx/model.onnx'],
  ['fp16', 'onnx/model_fp16.onnx'],
]

export interface ModelSource {
  name: string
  folder: string | null
  cacheFolder: string | null
}

export function sourceOf(options: Pick<OnnxEmbedderOptions, 'modelFolder' | 'modelId' | 'cacheFolder'>): ModelSource {
  if (options.modelFolder !== undefined) {
    const folder = path.resolve(options.modelFolder)
    return { name: options.modelId ?? path.basename(folder), folder, cacheFolder: null }
  }
  if (options.modelId === undefined) throw new Error('embeddings: name a model or a folder with its weights')
  return { name: options.modelId, folder: null, cacheFolder: path.resolve(options.cacheFolder ?? 'models') }
}

export function howToGet(name: string): string {
  return (
    `Get the weights on a machine with internet (the model's page on the hub, files config.json, tokenizer.json, ` +
    `tokenizer_config.json and onnx/model_quantized.onnx or onnx/model.onnx), put them into one folder in the same layout ` +
    `and name it in embeddings.folder (PORTICO_EMBEDDING_FOLDER); embeddings.model stays ${name}.`
  )
}

export function assertFiles(folder: string, dtype: string | undefined): void {
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
    `The embedding model's folder ${folder} lacks ${missing.join(', ')}. ${howToGet(path.basename(folder))}`,
  )
}

/** The file of these weights in a model's folder. */
export function weightsFile(dtype: string): string {
  const found = weightFiles.find(([kind]) => kind === dtype)
  if (!found)
    throw new Error(`weights of kind ${dtype} are not supported: ${weightFiles.map(([kind]) => kind).join(', ')}`)
  return found[1]
}

export function firstWeights(folder: string): [dtype: string, file: string] | undefined {
  return weightFiles.find(([, file]) => existsSync(path.join(folder, file)))
}

export interface ReadModel {
  family: ModelFamily
  tokenizer: Tokenizer
  limits: { maximumTokens: number; pooling: ModelFamily['pooling'] }
}

export async function readModel(
  folder: string,
  name: string,
  options: Pick<OnnxEmbedderOptions, 'family'>,
): Promise<ReadModel> {
  const config = await readJson(folder, 'config.json')
  const tokenizerConfig = (await readOptionalJson(folder, 'tokenizer_config.json')) ?? {}
  const sentence = await readOptionalJson(folder, 'sentence_bert_config.json')
  const known = familyOfModel(`${name} ${String(config['_name_or_path'] ?? '')}`, {
    config,
    pooling: await readOptionalJson(folder, '1_Pooling/config.json'),
    sentenceTransformers: await readOptionalJson(folder, 'config_sentence_transformers.json'),
  })
  const family = { ...known, ...options.family }
  const limits = [sentence?.['max_seq_length'], tokenizerConfig['model_max_length'], config['max_position_embeddings']]
  const stated = limits.filter(
    (limit) => typeof limit === 'number' && limit > 0 && limit <= maximumModelTokens,
  ) as number[]
  return {
    family,
    tokenizer: (await readTokenizer(folder)).tokenizer,
    limits: {
      maximumTokens: Math.min(...(stated.length > 0 ? stated : [defaultMaximumTokens])),
      pooling: family.pooling,
    },
  }
}

/** The model's tokenizer, and the id that pads shorter texts of a batch. */
export async function readTokenizer(folder: string): Promise<{ tokenizer: Tokenizer; padId: number }> {
  const config = (await readOptionalJson(folder, 'tokenizer_config.json')) ?? {}
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
