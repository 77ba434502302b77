import { isLargePicture } from '../image/picture-size.ts'
import { pictureDescription } from '../picture-description.ts'
import { type HtmlAttribute, maximumValue } from './tokenizer.ts'

/** Smaller pictures are signs and logos: dots, and the shorter side. */
const smallest = { dots: 20_000, side: 24 }

/**
 * True for a picture that the page contains (`data:`), that is large enough to show text and that nothing describes. An empty description
 * means decoration, as in the HTML standard. Pictures at other addresses are not part of the file.
 */
export function isUnreadPicture(attribute: HtmlAttribute): boolean {
  const description = attribute('alt')
  if (description === '' || pictureDescription(description) !== '') return false
  const source = attribute('src') ?? ''
  const [head, encoding = '', content = ''] = /^data:image\/[\w.+-]+((?:;[\w.=+-]+)*),(.*)$/is.exec(source) ?? []
  if (head === undefined) return false
  const bytes = Buffer.from(content, encoding.toLowerCase().endsWith(';base64') ? 'base64' : 'latin1')
  // The end of a longer address is not kept.
  const length = source.length < maximumValue ? bytes.length : Infinity
  return isLargePicture(bytes, { ...smallest, length })
}
