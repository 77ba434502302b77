import { cleanLine } from './clean-text.ts'

const maximumCharacters = 2_000

/** What programs write where nobody has described a picture: the name of its file, or what it is. */
const noDescription =
  /^(?:picture|image|graphic|photo)?[ \d]*$|^.{0,255}\.(?:bmp|emf|eps|gif|jpe?g|png|svg|tiff?|webp|wmf)$/i

/** The alternative text of a picture or drawing as text of the document; empty if it describes nothing. */
export function pictureDescription(text: string | undefined): string {
  if (text === undefined || text === '') return ''
  const description = cleanLine(text.slice(0, maximumCharacters)).replace(
    / ?\(?Description automatically generated.*$/i,
    '',
  )
  return noDescription.test(description) ? '' : description
}
