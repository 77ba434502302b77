import { headOf, isParts, type MediaPart, mediaBytes, type PixelSize, pixelSizeOf } from '../conversation/index.ts'
import { isMedia } from './media.ts'
import { plainName } from './model-traits/index.ts'
import type { ProviderMessage } from './port.ts'

/** Most tokens that a provider bills for an image of a size; null: the size is unknown, so the provider's maximum. */
interface ImageRule {
  models: RegExp
  tokens(size: PixelSize | null): number
  source: string
}

const patches = ({ width, height }: PixelSize, side: number) => Math.ceil(width / side) * Math.ceil(height / side)

/** OpenAI's tiles: fitted into 2,048 pixels, then the short side to 768, then squares of 512. */
function tiles(size: PixelSize | null): number {
  if (!size) return maximumTiles
  const fitted = Math.min(1, 2_048 / Math.max(size.width, size.height))
  const scale = fitted * Math.min(1, 768 / (Math.min(size.width, size.height) * fitted))
  return patches({ width: size.width * scale, height: size.height * scale }, 512)
}
const maximumTiles = 8

const vision = 'https://platform.openai.com/docs/guides/images-vision#calculating-costs'

/** The first rule that matches decides. */
const imageRules: readonly ImageRule[] = [
  { models: /^gpt-4o-mini/, tokens: (size) => 2_833 + 5_667 * tiles(size), source: vision },
  {
    models: /^(gpt-4\.1-(mini|nano)|gpt-5-(mini|nano)|o4-mini)/,
    tokens: (size) => Math.ceil(2.46 * Math.min(1_536, size ? patches(size, 32) : Infinity)),
    source: vision,
  },
  { models: /^(gpt-4|chatgpt-4o|o[13]|gpt-5(?!\.))/, tokens: (size) => 85 + 170 * tiles(size), source: vision },
  {
    models: /^claude/,
    tokens: (size) => Math.min(5_000, size ? Math.ceil((size.width * size.height) / 750) + 8 : Infinity),
    source: 'https://platform.claude.com/docs/en/build-with-claude/vision#evaluate-image-size',
  },
  {
    models: /^gemini/,
    // Newer models read an image with up to 2,240 tokens, whatever its size.
    tokens: (size) => Math.max(2_240, 258 * Math.min(24, size ? patches(size, 768) : Infinity)),
    source: 'https://ai.google.dev/gemini-api/docs/tokens#multimodal-tokens',
  },
  {
    models: /^/,
    // The finest patches of open models (28 pixels); their processors have this limit.
    tokens: (size) => Math.max(1_024, Math.min(16_384, size ? patches(size, 28) : Infinity)),
    source: 'https://huggingface.co/docs/transformers/model_doc/qwen2_5_vl',
  },
]

/** Tokens for a second of audio: Gemini 32, OpenAI 10, https://ai.google.dev/gemini-api/docs/audio */
const audioTokensPerSecond = 32
/** The lowest rate of a compressed recording of speech, 8 kbit/s. */
const leastAudioBytesPerSecond = 1_000
/** A PDF without many images has about this many bytes for each token of its pages. */
const usualFileBytesPerToken = 20

/**
 * Tokens of images, files and audio of a prompt for one model: what they probably take, and the most that the provider bills. Nothing takes
 * more than the context.
 */
export function estimateMedia(
  messages: readonly ProviderMessage[],
  { baseModel }: { baseModel: string },
  contextTokens: number,
): { estimate: number; bound: number } {
  const total = { estimate: 0, bound: 0 }
  const rule = imageRules.find(({ models }) => models.test(plainName(baseModel)))!
  for (const { content } of messages) {
    if (!isParts(content)) continue
    for (const part of content) {
      if (!isMedia(part)) continue
      const { estimate, bound } = tokensOf(part, rule, contextTokens)
      total.estimate += estimate
      total.bound += bound
    }
  }
  return { estimate: Math.min(total.estimate, contextTokens), bound: Math.min(total.bound, contextTokens) }
}

function tokensOf(part: MediaPart, rule: ImageRule, contextTokens: number): { estimate: number; bound: number } {
  const bytes = mediaBytes(part.source)
  if (part.type === 'image') {
    const bound = rule.tokens(pixelSizeOf(part.source))
    return { estimate: bound, bound }
  }
  if (bytes === null) return { estimate: Math.ceil(contextTokens / 10), bound: contextTokens }
  if (part.type === 'audio') {
    const bound = Math.ceil((bytes / audioBytesPerSecond(part)) * audioTokensPerSecond) + audioTokensPerSecond
    return { estimate: bound, bound }
  }
  // Pages are read as text and as images, and the compressed bytes do not show how many there are.
  return { estimate: Math.ceil(bytes / usualFileBytesPerToken), bound: contextTokens }
}

/** WAV: the rate is at byte 28 of its header. */
function audioBytesPerSecond({ source }: MediaPart): number {
  if (source.kind === 'url') return leastAudioBytesPerSecond
  const head = headOf(source.data, 48)
  if (head.length < 32 || head.toString('latin1', 8, 16) !== 'WAVEfmt ') return leastAudioBytesPerSecond
  return Math.max(leastAudioBytesPerSecond, head.readUInt32LE(28))
}
