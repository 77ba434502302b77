import type { ExtractedBlock } from '../../extraction.ts'
import { hiddenText } from '../../suspicious/text-flags.ts'
import { cleanLine } from '../clean-text.ts'
import { createBlockBatch, type ExtractorInput } from '../extractor.ts'
import { undescribedPictures } from '../picture-description.ts'
import { decodeTextFile, readHead } from '../text-decoding.ts'
import { HtmlPage } from './page.ts'
import { type PageScope, RegionStack } from './regions.ts'
import { HtmlTokenizer } from './tokenizer.ts'

/** Where browsers look for the encoding. */
const headBytes = 4 * 1024
const maximumTitle = 500
/** A part of the page stands for all of it if it has at least this share of the text around it. */
const sufficientShare = 0.2
/** Text outside of the main part, without links, that is less than this, or than this share of the main part, is a frame. */
const minimumOutside = 200
const outsideShare = 0.1

const omittedText = {
  code: 'hidden_text',
  message:
    'The page holds text that browsers do not show, for example of parts that a reader opens. It was left out. If it matters, save the page with these parts open, or write their text into a document.',
} as const

const outsideText = {
  code: 'embedded_content_skipped',
  message:
    'The page has text outside of its main part, which was left out. If it matters, save that part of the page, or write its text into a document.',
} as const

/** A web page: the text of its main part with headings, lists, tables and the addresses of links. */
export async function* extractHtml(given: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const input = { ...given, declaredEncoding: given.declaredEncoding ?? (await statedEncoding(given)) }
  const survey = await surveyPage(input)
  const batch = createBlockBatch()
  if (survey.leavesTextOut) input.report.warn(outsideText)
  if (survey.title !== '') batch.add({ kind: 'heading', level: 1, text: survey.title })
  const foundHidden = (isRead: boolean) => input.report.warn(isRead ? hiddenText : omittedText)
  let pictures = 0
  const page = new HtmlPage({ scope: survey.scope, foundHidden, foundPicture: () => void (pictures += 1) })
  const tokenizer = new HtmlTokenizer(page)
  for await (const piece of decodeTextFile(input)) {
    tokenizer.write(piece)
    for (const block of page.take()) if (batch.add(block)) yield batch.take()
  }
  tokenizer.finish()
  page.finish()
  if (pictures > 0) input.report.warn(undescribedPictures(pictures))
  for (const block of page.take()) if (batch.add(block)) yield batch.take()
  yield batch.take()
}

interface PageSurvey {
  scope: PageScope
  /** There is text outside of the main part that is neither navigation nor a link. */
  leavesTextOut: boolean
  title: string
}

/** Reads the page once to decide what of it is its content, and whether its title has to serve as a heading. */
async function surveyPage(input: ExtractorInput): Promise<PageSurvey> {
  const regions = new RegionStack('body')
  const characters = { main: 0, outside: 0, body: 0, all: 0 }
  let isLink = false
  let title = ''
  let hasHeading = false
  const tokenizer = new HtmlTokenizer({
    open(name, attribute) {
      regions.open(name, attribute)
      if (name === 'h1') hasHeading = true
      if (name === 'a') isLink = true
    },
    close(name) {
      regions.close(name)
      if (name === 'a') isLink = false
    },
    text(text) {
      const { isTitle, isSkipped, isMain } = regions.place()
      if (isTitle) {
        if (title.length < maximumTitle) title += text
        return
      }
      const length = text.replace(/\s+/g, '').length
      characters.all += length
      if (isSkipped) return
      characters.body += length
      if (isMain) characters.main += length
      else if (!isLink) characters.outside += length
    },
  })
  const quiet = { ...input, report: { ...input.report, warn() {} } }
  for await (const piece of decodeTextFile(quiet)) tokenizer.write(piece)
  tokenizer.finish()
  const { main, outside, body, all } = characters
  const scope = main > body * sufficientShare ? 'main' : body > all * sufficientShare ? 'body' : 'all'
  const leavesTextOut = scope === 'main' && outside > Math.max(minimumOutside, main * outsideShare)
  return { scope, leavesTextOut, title: hasHeading ? '' : cleanLine(title.slice(0, maximumTitle)) }
}

/** The encoding that the page states; undefined where it states none. */
async function statedEncoding(input: ExtractorInput): Promise<string | undefined> {
  const head = Buffer.from(await readHead(input, headBytes)).toString('latin1')
  return /<(?:meta\s[^>]{0,200}?charset|\?xml\s[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)?.[1]
}
