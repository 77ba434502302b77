import type { ExtractionWarning } from '../extraction.ts'
import { cleanLine } from './clean-text.ts'
import type { Attribute } from './office-xml.ts'

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

/** The same of an element that names a drawing (`docPr` or `cNvPr`). */
export function drawingDescription(attribute: Attribute): string {
  return pictureDescription(attribute('descr')) || pictureDescription(attribute('title'))
}

/** What Office adds to a description that it has generated, after an empty line, in the language of its user. */
const generated = /\n\s*\n[^\n]{4,100}$|automatically generated|AI-generated/i

/** True where a person has described the picture: "A screenshot of a text", which Office generates, does not stand for the text. */
function isDescribedBy(text = ''): boolean {
  return pictureDescription(text) !== '' && !generated.test(text.slice(0, maximumCharacters).trim())
}

/** A picture that is no decoration, and no view of a file of another program. */
export interface FoundPicture {
  /** To its part; undefined where it has none. */
  relationshipId: string | undefined
  /** By its author. */
  isDescribed: boolean
}

/** Finds the pictures of a part by its elements. */
export function createPictureFinder(found: (picture: FoundPicture) => void) {
  /** Files of other programs around, whose picture shows their content. */
  let objects = 0
  let inPicture = false
  let relationshipId: string | undefined
  /** The picture, and the drawing or shape around it. */
  let isDescribed = false
  let isDrawingDescribed = false
  /** Its author has stated that it has no meaning. */
  let isDecorative = false
  let isDrawingDecorative = false
  return {
    open(name: string, attribute: Attribute) {
      if (name === 'w:object' || name === 'oleObj') objects += 1
      else if (name === 'docPr') {
        isDrawingDescribed = isDescribedBy(attribute('descr') || attribute('title'))
        isDrawingDecorative = false
      } else if (name === 'shape') isDrawingDescribed = isDescribedBy(attribute('alt'))
      else if (name === 'pic') {
        inPicture = true
        isDescribed = isDrawingDescribed
        isDecorative = isDrawingDecorative
        relationshipId = undefined
      } else if (name === 'cNvPr' && inPicture) isDescribed ||= isDescribedBy(attribute('descr') || attribute('title'))
      else if (name === 'blip' && inPicture) relationshipId = attribute('embed')
      else if (name === 'decorative') {
        const value = attribute('val') === '1'
        isDescribed = isDrawingDescribed = isDecorative = value
        if (!inPicture) isDrawingDecorative = value
      } else if (name === 'imagedata' && objects === 0)
        found({ relationshipId: attribute('r:id'), isDescribed: isDrawingDescribed })
    },
    close(name: string) {
      if (name === 'w:object' || name === 'oleObj') objects -= 1
      else if (name === 'pic') {
        if (objects === 0 && !isDecorative) found({ relationshipId, isDescribed })
        inPicture = false
      } else if (name === 'w:drawing') isDrawingDescribed = isDrawingDecorative = false
    },
  }
}

/** Pictures that nothing in the text stands for, where text in pictures is not read. */
export function undescribedPictures(count: number): ExtractionWarning {
  return {
    code: 'embedded_content_skipped',
    message: `${shownCount(count)} without a description by the author (alternative text) ${count === 1 ? 'was' : 'were'} not read. If text in pictures matters, write it into the file, or describe them.`,
  }
}

/** The same where it is read. */
export function unreadPictures(count: number): ExtractionWarning {
  return {
    code: 'embedded_content_skipped',
    message: `${shownCount(count)} without a description by the author (alternative text) ${count === 1 ? 'was' : 'were'} not read: damaged, too large, of a type that is not read, or without letters that are certain. If text in pictures matters, write it into the file.`,
  }
}

const shownCount = (count: number) => (count === 1 ? '1 picture' : `${count} pictures`)
