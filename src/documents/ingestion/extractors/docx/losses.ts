import { lookUp } from '../../../../platform/kernel/index.ts'
import type { ExtractorInput } from '../extractor.ts'

/** Elements, as office-xml.ts names them, that refer to content of another part, which is not read, with the name of the content for the warning. */
const unread: Record<string, string> = {
  'w:altChunk': 'Text that was inserted from another file (altChunk)',
  'w:subDoc': 'The text of a linked document, of which this one is the master,',
  'w:control': 'The value of a control (ActiveX)',
  OLEObject: 'Embedded objects, such as spreadsheets,',
}

const waysOut: Record<string, string> = {
  'w:altChunk': 'Open the document in Word, save it, and upload it again: that makes the text part of it.',
  'w:subDoc': 'Upload that document too.',
}

/** Those that show a file in the docx. */
const filesOf = new Set(['w:altChunk', 'OLEObject'])

/** Warns once of each kind of content that a docx shows and that is not read. Files in it are read, but not for version 1 of the interface. */
export function createLossReport({ report, readsEmbedded }: ExtractorInput) {
  const reported = new Set<string>()
  const leftOut = (name: string) => {
    const what = lookUp(unread, name)
    if (what === undefined || reported.has(name)) return
    reported.add(name)
    const wayOut = lookUp(waysOut, name) ?? 'Where it matters, write it into the document as text.'
    report.warn({ code: 'embedded_content_skipped', message: `${what} was not read. ${wayOut}` })
  }
  return {
    open(name: string) {
      if (!readsEmbedded || !filesOf.has(name)) leftOut(name)
    },
    objectLeftOut: () => leftOut('OLEObject'),
  }
}
