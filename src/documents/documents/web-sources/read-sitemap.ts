import { SaxesParser } from 'saxes'
import { loopTurn } from '../../../platform/kernel/index.ts'

export interface Sitemap {
  pages: string[]
  /** Of an index: further sitemaps. */
  sitemaps: string[]
}

/** Characters that are parsed in one step, some milliseconds. */
const stepCharacters = 32 * 1024
/** A sitemap has at most 50,000 entries by its standard. */
const maximumEntries = 50_000

/** The addresses of a sitemap or a sitemap index. Throws if the text is no XML. */
export async function readSitemap(text: string, owner: string, signal: AbortSignal): Promise<Sitemap> {
  const found: Sitemap = { pages: [], sitemaps: [] }
  const parser = new SaxesParser({ xmlns: false })
  const open: string[] = []
  let location: string | undefined
  let entries = 0
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name }) => {
    open.push(name.replace(/^.*:/, ''))
    if (open.length === 3 && open[2] === 'loc') location = ''
  })
  parser.on('text', (part) => {
    if (location !== undefined) location += part
  })
  parser.on('cdata', (part) => {
    if (location !== undefined) location += part
  })
  parser.on('closetag', () => {
    if (open.length === 3 && location !== undefined && ++entries <= maximumEntries) {
      if (open[1] === 'url') found.pages.push(location.trim())
      else if (open[1] === 'sitemap') found.sitemaps.push(location.trim())
    }
    if (open.length === 3) location = undefined
    open.pop()
  })
  for (let at = 0; at < text.length; at += stepCharacters) {
    signal.throwIfAborted()
    await loopTurn(owner)
    parser.write(text.slice(at, at + stepCharacters))
  }
  parser.close()
  return found
}
