import type { ExtractedBlock, ExtractionWarning } from '../extraction.ts'

/** What readers of a document cannot see: the warning of every extractor that finds such text. */
export const hiddenText = {
  code: 'hidden_text',
  message:
    'The file holds text that its readers cannot see: invisible characters, hidden, tiny or white text, or comments. It was read, because it may be meant for search, but it can also be meant to mislead a model. Check the file.',
} as const satisfies ExtractionWarning

const instructionLikeText = {
  code: 'instruction_like_text',
  message:
    'The file holds sentences that read like instructions to a language model. Models receive them as quoted text and not as instructions. Check where the file comes from.',
} as const satisfies ExtractionWarning

/** Warns of text in a block that may be meant for a model and not for a reader. */
export function flagText({ text, page }: ExtractedBlock, warn: (warning: ExtractionWarning) => void): void {
  const pages = page === undefined ? {} : { pages: [page] }
  if (hasHiddenCharacters(text)) warn({ ...hiddenText, ...pages })
  if (isInstructionLike(text)) warn({ ...instructionLikeText, ...pages })
}

/**
 * Sentences that address a language model instead of a reader. Pure.
 *
 * The rules are about what such a sentence must contain: it names the answer that is being written ("your response"), the instructions
 * that it wants to replace, the model's role, or what the user must not learn. An order without such words ("Explain photosynthesis.")
 * cannot be distinguished from the text of a manual and is not flagged.
 */

const reply = '(?:response|reply|replies|answer|output|completion)s?'
/** A character of the same sentence; a dot inside of an address ends none. */
const within = String.raw`(?:[^.!?\n]|[.!?](?=[^\s.!?]))`
const gap = String.raw`[^.!?\n]{0,40}?`

/** Patterns, and what each text that matches one of them has. Most texts have nothing of it, and looking for it takes less time. */
interface PatternGroup {
  needs: RegExp
  patterns: readonly RegExp[]
}

/** Exported for tests. */
export const patternGroups: readonly PatternGroup[] = [
  {
    needs: /\byour/iu,
    patterns: [
      // "Encode your response in Base64.", "Integrate a sentence in your reply that …"
      new RegExp(
        String.raw`\b(?:add|adjust|alter|append|apply|augment|begin|change|compose|convert|deliver|display|embed|encode|end|enhance|finish|format|generate|give|group|hide|in|include|incorporate|insert|integrate|introduce|make|mention|mix|modify|output|place|prefix|prepend|present|print|produce|provide|put|remove|render|repeat|replace|represent|respond|return|reverse|rewrite|say|scramble|shift|shuffle|speak|start|substitute|swap|transform|translate|turn|use|within|write)\b${within}{0,140}?\byour\s+(?:\w+\s+){0,2}?${reply}\b`,
        'iu',
      ),
    ],
  },
  {
    needs: /\b(?:base\d|cipher|code|emoji|leetspeak|morse|rot13)/iu,
    patterns: [
      new RegExp(
        String.raw`\b(?:answer|reply|respond|write)\s+(?:only\s+)?(?:in|with|using|by)\s+[^.!?\n]{0,60}\b(?:base\d+|cipher|code|emoji|emojis|leetspeak|morse|rot13)\b`,
        'iu',
      ),
    ],
  },
  {
    needs: /^/u,
    patterns: [
      new RegExp(String.raw`^\W*(?:can|could|would|will)\s+you\s+(?:please\s+)?(?:answer|reply|respond)\b`, 'iu'),
    ],
  },
  {
    needs: /\b(?:bypass|dimentica|disregard|esque|forget|ignor|olvid|oubli|override)/iu,
    patterns: [
      new RegExp(
        String.raw`\b(?:ignore|disregard|forget|override|bypass)\b${gap}\b(?:above|all|any|earlier|former|other|preceding|previous|prior|system|your)\b${gap}\b(?:commands?|context|directions?|directives?|guidelines?|instructions?|messages?|orders|prompts?|rules)\b`,
        'iu',
      ),
      // The same order in other languages.
      /\bignorier\w*\b[^.!?\n]{0,40}\b(?:anweisung|anordnung|vorgabe|regel|instruktion)\w*/iu,
      /\b(?:ignorez|ignore|oubliez|oublie)\b[^.!?\n]{0,30}\b(?:instructions?|consignes?|règles)\b/iu,
      /\b(?:ignora|ignore|olvida|olvide|dimentica|esqueça)\b[^.!?\n]{0,40}\b(?:instrucciones|instruções|istruzioni|reglas|regras|regole)\b/iu,
    ],
  },
  {
    needs: /\b(?:instruction|message|prompt)/iu,
    patterns: [
      /\b(?:reveal|print|show|output|repeat|leak|tell me)\b[^.!?\n]{0,40}\b(?:system prompt|system message|(?:initial|hidden|your) (?:prompt|instructions))\b/iu,
      /^\s*(?:new|updated|important|urgent|system)\s+(?:system\s+)?instructions?\s*(?:for\s+(?:the\s+)?(?:ai|assistant|chatbot|model)\s*)?:/imu,
    ],
  },
  {
    needs: /\b(?:act as|behave as|you are)/iu,
    patterns: [
      /\b(?:you are|act as|behave as)\b[^.!?\n]{0,30}\b(?:a language model|an? (?:ai|unrestricted|uncensored|jailbroken)|chatgpt|dan\b|in developer mode)/iu,
    ],
  },
  {
    needs: /\buser/iu,
    patterns: [
      /\b(?:do not|don't|never|without)\s+(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|alert|alerting)\b[^.!?\n]{0,30}\b(?:the )?users?\b/iu,
    ],
  },
  {
    needs: /[#<[]/u,
    patterns: [
      /<\|(?:im_start|im_end|system|user|assistant|endoftext)[^|\n]{0,20}\|>|\[\/?INST\]|<<\/?SYS>>|^\s*#{2,4}\s*(?:system|new|updated)\s+(?:prompt|instructions?)\b/imu,
    ],
  },
  {
    // Cyrillic and Arabic letters, and those of Chinese and Japanese.
    needs: /[\u0400-\u06ff\u1c80-\u1c8f\u3000-\u9fff]/u,
    patterns: [
      /игнорируй(?:те)?[^.!?\n]{0,40}(?:инструкци|указани|правил)/iu,
      /(?:忽略|无视|無視|忘记|忘掉)[^。！？\n]{0,15}(?:指令|指示|说明|說明|规则|規則|提示)/u,
      /(?:指示|命令|ルール|プロンプト)[^。！？\n]{0,10}(?:無視|忘れ)/u,
      /(?:تجاهل|انس)[^.!؟\n]{0,30}(?:التعليمات|الأوامر|القواعد)/u,
    ],
  },
]

/** Longest text that is compared as a whole; longer ones are compared in pieces that overlap. */
const pieceLength = 2_000
const overlap = 300

export function isInstructionLike(text: string): boolean {
  for (let at = 0; at < text.length; at += pieceLength - overlap) {
    const piece = text.slice(at, at + pieceLength)
    if (
      patternGroups.some(({ needs, patterns }) => needs.test(piece) && patterns.some((pattern) => pattern.test(piece)))
    )
      return true
  }
  return false
}

/**
 * Characters that show nothing and can carry a text that only a machine reads. Pure.
 *
 * Single ones have a use: between words of Thai and Khmer, inside of emoji, in Persian and Indian scripts. Flags of regions such as
 * Scotland are a black flag and a row of tag characters.
 */

const anyPattern = /[\u200b-\u200d\u2060-\u2064\u{e0000}-\u{e007f}]|\p{Variation_Selector}/u
const regionFlagPattern = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}/gu
/** A tag character, or as many others in a row as one letter takes in the known encodings. */
const carrierPattern = /[\u{e0000}-\u{e007f}]|[\u200b-\u200d\u2060-\u2064]{8}|\p{Variation_Selector}{4}/u

export function hasHiddenCharacters(text: string): boolean {
  return anyPattern.test(text) && carrierPattern.test(text.replaceAll(regionFlagPattern, ''))
}
