import { buildDocx, docxParagraph } from './build-documents.ts'

const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** A picture of an office file, by the relationship to its part. */
export function drawnPicture(id: string, description = '', isDecorative = false): string {
  const mark = isDecorative ? '<a:extLst><d:decorative xmlns:d="d" val="1"/></a:extLst>' : ''
  return `<a:pic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:nvPicPr><a:cNvPr id="2" name="Picture 1" descr="${description}">${mark}</a:cNvPr></a:nvPicPr><a:blipFill><a:blip xmlns:r="${types}" r:embed="${id}"/></a:blipFill></a:pic>`
}

/** The parts of pictures in a folder, and relationships p0, p1 … to them. */
export function pictureParts(
  relationshipsPart: string,
  folder: string,
  files: Record<string, Buffer>,
): Record<string, string | Buffer> {
  const names = Object.keys(files)
  const list = names.map(
    (name, index) => `<Relationship Id="p${index}" Type="${types}/image" Target="/${folder}/${name}"/>`,
  )
  return {
    [relationshipsPart]: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list.join('')}</Relationships>`,
    ...Object.fromEntries(names.map((name) => [`${folder}/${name}`, files[name]!])),
  }
}

/** A docx with these pictures between two paragraphs. `draw`: the pictures of a part. */
export function buildDocxWithPictures(
  files: Record<string, Buffer>,
  draw: (id: string) => string[] = (id) => [drawnPicture(id)],
): Buffer {
  const drawings = Object.keys(files)
    .flatMap((_, index) => draw(`p${index}`))
    .map((picture) => `<w:p><w:r><w:drawing>${picture}</w:drawing></w:r></w:p>`)
  return buildDocx(
    docxParagraph('First.') + drawings.join('') + docxParagraph('Last.'),
    pictureParts('word/_rels/document.xml.rels', 'word/media', files),
  )
}
