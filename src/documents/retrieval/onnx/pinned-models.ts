/** A file of a model, relative to its folder. */
export interface PinnedFile {
  path: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

/** A model whose files are known byte for byte. */
export interface PinnedModel {
  /** What people type. */
  name: string
  /** Of the hub. */
  id: string
  /** The hub's commit. */
  revision: string
  licence: string
  /** In one clause. */
  about: string
  files: readonly PinnedFile[]
}

/** The first one is the default. Hashes and sizes: public lock files of several projects that pin this revision, compared with each other. */
export const pinnedModels: readonly PinnedModel[] = [
  {
    name: 'multilingual-e5-small',
    id: 'Xenova/multilingual-e5-small',
    revision: '761b726dd34fb83930e26aab4e9ac3899aa1fa78',
    licence: 'MIT',
    about: 'about 100 languages, 384 dimensions, 8-bit weights',
    files: [
      {
        path: 'config.json',
        bytes: 658,
        sha256: 'cb99455288675345e1a4f411438d5d0adbba5fbd3a67ea4fb03c015433b996c1',
      },
      {
        path: 'tokenizer_config.json',
        bytes: 443,
        sha256: 'a1d6bc8734a6f635dc158508bef000f8e2e5a759c7d92f984b2c86e5ff53425b',
      },
      {
        path: 'tokenizer.json',
        bytes: 17_082_730,
        sha256: '0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39',
      },
      {
        path: 'onnx/model_quantized.onnx',
        bytes: 118_308_185,
        sha256: 'f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193',
      },
    ],
  },
]
