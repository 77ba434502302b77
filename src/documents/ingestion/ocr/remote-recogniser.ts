import { cleanText } from '../extractors/clean-text.ts'
import type { EncodedImage } from '../extractors/image/image-pages.ts'
import type { GreyImage } from './engine.ts'
import { toPictureFile } from './picture-file.ts'
import type { RecognisedLine, Recogniser } from './recogniser.ts'

/** Reads a picture file outside of this process: its text, or null where it cannot be read. */
export type ReadPicture = (
  picture: ReturnType<typeof toPictureFile> & { languages: readonly string[] },
) => Promise<string | null>

/** Of a line in a picture of which only the texts are known, in dots at 200 dots per inch: 11 points, and the same again between paragraphs. */
const lineHeight = 30
const letterWidth = 15

export function createRemoteRecogniser(languages: readonly string[], readPicture: ReadPicture): Recogniser {
  return {
    async recognise(image: GreyImage | EncodedImage) {
      const text = await readPicture({ ...toPictureFile(image), languages })
      if (text === null) throw new Error('the picture cannot be read')
      return { lines: linesOf(text), confidence: null, languages }
    },
  }
}

/** The lines of a text below each other; empty ones separate paragraphs. */
function linesOf(text: string): RecognisedLine[] {
  const lines: RecognisedLine[] = []
  let top = 0
  for (const line of cleanText(text).split('\n')) {
    const words = line.trim().replaceAll(/\s+/g, ' ')
    if (/[\p{L}\p{N}]/u.test(words))
      lines.push({ text: words, left: 0, right: words.length * letterWidth, top, bottom: top + lineHeight })
    top += lineHeight
  }
  return lines
}
