import { ExtractionError, type DocumentFormat, type ExtractedBlock } from '../extraction.ts'
import { flagText } from '../suspicious/text-flags.ts'
import { newNesting, type PartReader, skippedWarnings } from './attached-files.ts'
import { extractCsv, extractTsv } from './csv.ts'
import { createDocxExtractor } from './docx/docx.ts'
import { createEmlExtractor } from './eml/eml.ts'
import type { Extractor, ExtractorInput } from './extractor.ts'
import { extractHtml } from './html/html.ts'
import { extractImage } from './image/image.ts'
import { extractMarkdown } from './markdown.ts'
import { createPdfReader } from './pdf/document.ts'
import { createPdfExtractor, type PdfOptions } from './pdf/pdf.ts'
import { createPptxExtractor } from './pptx/pptx.ts'
import { extractTxt } from './txt.ts'
import { createXlsxExtractor } from './xlsx/xlsx.ts'

/** Chooses the extractor by format and enforces the rules of every format: output limits, and no `ready` document without text. */
export function createFileExtractor(options?: PdfOptions) {
  let pdf: Promise<Extractor> | null = null
  const readPart: PartReader = (format, input) => extractors[format](input)
  const loadPdf = () => (pdf ??= createPdfReader().then((reader) => createPdfExtractor(reader, readPart, options)))
  const extractors: Record<DocumentFormat, Extractor> = {
    async *pdf(input) {
      yield* (await loadPdf())(input)
    },
    docx: createDocxExtractor(readPart),
    csv: extractCsv,
    md: extractMarkdown,
    txt: extractTxt,
    html: extractHtml,
    tsv: extractTsv,
    xlsx: createXlsxExtractor(readPart),
    pptx: createPptxExtractor(readPart),
    image: extractImage,
    eml: createEmlExtractor(readPart),
  }

  return {
    /** Loads PDFium, so that the first pdf need not wait for it. */
    async warmUp(): Promise<void> {
      await loadPdf()
    },
    async *extract(format: DocumentFormat, given: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
      if (given.sizeBytes === 0)
        throw new ExtractionError('empty_file', 'The file is empty (0 bytes). Upload a file that holds text.')
      const nesting = newNesting()
      const input = { ...given, nesting }
      let characters = 0
      let blocks = 0
      let hasText = false
      for await (const batch of extractors[format](input)) {
        if (batch.length === 0) continue
        blocks += batch.length
        for (const { text } of batch) {
          characters += text.length
          hasText ||= /[\p{L}\p{N}]/u.test(text)
        }
        assertOutput(characters, blocks, input)
        for (const block of batch) flagText(block, (warning) => input.report.warn(warning))
        yield batch
      }
      for (const warning of skippedWarnings(nesting.totals)) input.report.warn(warning)
      if (!hasText) throw new ExtractionError('no_text', noTextMessages[format])
    },
  }
}

function assertOutput(characters: number, blocks: number, { limits }: ExtractorInput) {
  if (characters > limits.maximumCharacters)
    throw new ExtractionError(
      'too_large_when_unpacked',
      `The file holds more than ${limits.maximumCharacters} characters of text. Split it into smaller files.`,
    )
  if (blocks > limits.maximumBlocks)
    throw new ExtractionError(
      'too_complex',
      `The file holds more than ${limits.maximumBlocks} paragraphs, rows and headings. Split it into smaller files.`,
    )
}

const noTextMessages: Record<DocumentFormat, string> = {
  pdf: 'No text was found: the pages are empty or are pictures of text. Run text recognition (OCR) over the pdf and upload the result.',
  docx: 'No text was found in the document. Upload a document that holds text, not only pictures.',
  csv: 'No text was found in the csv file: all its cells are empty.',
  md: 'No text was found in the Markdown file.',
  txt: 'No text was found in the file: it holds only white space.',
  html: 'No text was found in the page. Save the page as your browser shows it, with its text.',
  tsv: 'No text was found in the tsv file: all its cells are empty.',
  xlsx: 'No text was found in the workbook: all its cells are empty.',
  eml: 'No text was found in the message: it has neither a subject nor a text.',
  image: 'No text was found in the picture. Text recognition (OCR) reads print, not handwriting.',
  pptx: 'No text was found in the presentation. Upload one that holds text, not only pictures.',
}
