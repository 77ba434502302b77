import iconv from 'iconv-lite'
import { createJohabDecoder } from './johab.ts'
import { createHzDecoder, createIso2022KrDecoder } from './seven-bit.ts'
import type { StreamDecoder } from './stream-decoder.ts'

/** An encoding that a text file without a mark may have. */
export interface LegacyEncoding {
  label: string
  /** Keys of the sentences in language-samples.json, or the character sets of East Asian languages. */
  languages: readonly string[]
  /** Natural logarithm of how much rarer it is than the usual encoding of its languages. */
  prior: number
}

const western = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'no', 'fi', 'is', 'en']
const central = ['pl', 'cs', 'sk', 'hu', 'ro', 'hr', 'sl', 'de']
const cyrillic = ['ru', 'uk', 'bg', 'sr', 'be']
const baltic = ['lt', 'lv', 'et']

const encodings: [label: string, prior: number, languages: readonly string[]][] = [
  ['windows-1252', 0, western],
  ['iso-8859-15', -2, western],
  ['macintosh', -5, western],
  ['cp850', -5, western],
  ['cp437', -6, western],
  ['cp865', -7, ['da', 'no']],
  ['cp861', -7, ['is']],
  ['maciceland', -7, ['is']],
  ['windows-1250', -0.5, central],
  ['iso-8859-2', -2, central],
  ['iso-8859-16', -10, ['ro']],
  ['cp852', -5, central],
  ['maccenteuro', -6, ['pl', 'cs', 'sk', 'hu']],
  ['maccroatian', -7, ['hr', 'sl']],
  ['macromania', -7, ['ro']],
  ['windows-1251', 0, cyrillic],
  ['koi8-r', -2, ['ru', 'bg']],
  ['koi8-u', -2.5, ['uk', 'be', 'ru']],
  ['ibm866', -3, cyrillic],
  ['cp1125', -4, ['uk', 'be']],
  ['iso-8859-5', -4, cyrillic],
  ['x-mac-cyrillic', -4, cyrillic],
  ['cp855', -7, ['sr', 'bg', 'ru']],
  ['windows-1253', 0, ['el']],
  ['iso-8859-7', -1, ['el']],
  ['cp737', -4, ['el']],
  ['macgreek', -6, ['el']],
  ['windows-1254', -0.5, ['tr']],
  ['cp857', -4, ['tr']],
  ['macturkish', -6, ['tr']],
  ['windows-1255', 0, ['he']],
  ['cp862', -4, ['he']],
  ['windows-1256', 0, ['ar', 'fa']],
  ['iso-8859-6', -1, ['ar']],
  ['cp720', -6, ['ar']],
  ['windows-1257', -0.5, baltic],
  ['iso-8859-13', -2, baltic],
  ['iso-8859-4', -5, baltic],
  ['cp775', -5, baltic],
  ['windows-1258', 0, ['vi']],
  ['viscii', -4, ['vi']],
  ['tcvn', -4, ['vi']],
  ['windows-874', 0, ['th']],
  ['gb18030', 0, ['simplified']],
  ['big5', 0, ['traditional']],
  ['shift_jis', 0, ['japanese']],
  ['euc-jp', 0, ['japanese']],
  ['euc-kr', 0, ['korean']],
  ['johab', -4, ['korean']],
]

export const legacyEncodings: readonly LegacyEncoding[] = encodings.map(([label, prior, languages]) => ({
  label,
  prior,
  languages,
}))

/** Those that neither the platform nor iconv-lite has. */
const ownDecoders = new Map([
  ['johab', createJohabDecoder],
  ['cp1361', createJohabDecoder],
  ['iso-2022-kr', createIso2022KrDecoder],
  ['hz-gb-2312', createHzDecoder],
])

/** A decoder for a label of the Encoding standard, a code page of iconv-lite, or one of ours; null for an unknown label. */
export function createLegacyDecoder(label: string): StreamDecoder | null {
  const create = ownDecoders.get(label.toLowerCase())
  if (create) return create()
  try {
    return new TextDecoder(label)
  } catch {
    if (!iconv.encodingExists(label)) return null
    const decoder = iconv.getDecoder(label)
    return {
      decode: (bytes, options) =>
        (bytes ? decoder.write(Buffer.from(bytes)) : '') + (options?.stream ? '' : (decoder.end() ?? '')),
    }
  }
}
