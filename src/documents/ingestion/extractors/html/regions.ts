import { createHiddenRegion, isHidden } from './hidden-region.ts'
import type { HtmlAttribute } from './tokenizer.ts'

/** How much of a page is read: its main element, the page without navigation, or all of it. */
export type PageScope = 'main' | 'body' | 'all'

/** Elements without text for a reader. */
const silent = new Set(
  'script style noscript iframe object select datalist canvas audio video noembed noframes ix:header'.split(' '),
)
const navigation = new Set(['nav', 'search'])
/** Texts of a drawing. */
const labels = new Set(['text', 'foreignobject'])
/** Of an article, these belong to the text. */
const framing = new Set(['footer', 'aside'])
const navigationRoles = /^(?:navigation|banner|contentinfo|complementary|search|menu|menubar|toolbar)$/

/** Elements without an end tag. */
const empty = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))

/** Which part of the page the tags are in: of each region only its outermost element counts. */
export class RegionStack {
  private readonly scope: PageScope
  private skipped: Region | null = null
  private main: Region | null = null
  private article: Region | null = null
  /** A drawing (svg) shows only its labels; its title and description are shown by no browser. */
  private drawing: Region | null = null
  private label: Region | null = null
  private hidden: ReturnType<typeof createHiddenRegion> | null = null
  private isTitle = false

  constructor(scope: PageScope) {
    this.scope = scope
  }

  open(name: string, attribute: HtmlAttribute) {
    if (this.hidden?.open(name) === false) this.hidden = null
    if (name === 'title' && !this.skipped && !this.drawing) this.isTitle = true
    for (const region of [this.skipped, this.main, this.article, this.drawing, this.label])
      if (region?.name === name) region.depth += 1
    if (empty.has(name)) return
    if (name === 'main' || attribute('role') === 'main') this.main ??= { name, depth: 1 }
    if (name === 'article') this.article ??= { name, depth: 1 }
    if (name === 'svg') this.drawing ??= { name, depth: 1 }
    if (this.drawing && labels.has(name)) this.label ??= { name, depth: 1 }
    if (!this.skipped && this.isOutside(name, attribute)) this.skipped = { name, depth: 1 }
    if (this.scope !== 'all' && !this.hidden && (isHidden(attribute) || isInert(name, attribute)))
      this.hidden = createHiddenRegion(name)
  }

  close(name: string) {
    if (this.hidden?.close(name) === false) this.hidden = null
    if (name === 'title') this.isTitle = false
    this.skipped = leave(this.skipped, name)
    this.main = leave(this.main, name)
    this.article = leave(this.article, name)
    this.label = leave(this.label, name)
    this.drawing = leave(this.drawing, name)
    if (!this.drawing) this.label = null
  }

  /** True where the text is part of what is read. The title is not: it is in the tab of the browser. */
  isRead(): boolean {
    return !this.isSkipped() && !this.isTitle && (this.scope !== 'main' || this.main !== null)
  }

  /** True where the text would be read if the page did not hide it. */
  isHidden(): boolean {
    return this.hidden !== null && this.skipped === null && (this.scope !== 'main' || this.main !== null)
  }

  /** The parts of the page that contain the text. */
  place(): { isTitle: boolean; isSkipped: boolean; isMain: boolean } {
    return { isTitle: this.isTitle, isSkipped: this.isSkipped(), isMain: this.main !== null }
  }

  private isSkipped(): boolean {
    return this.skipped !== null || this.hidden !== null || (this.drawing !== null && this.label === null)
  }

  private isOutside(name: string, attribute: HtmlAttribute): boolean {
    if (this.scope === 'all') return name === 'script' || name === 'style'
    if (silent.has(name) || navigation.has(name)) return true
    if (framing.has(name)) return !this.main && !this.article
    return navigationRoles.test(attribute('role') ?? '')
  }
}

/** A template is shown only after a script has copied it. Saved pages have their components in those with a mode, which browsers show. */
function isInert(name: string, attribute: HtmlAttribute): boolean {
  return name === 'template' && attribute('shadowrootmode') === undefined
}

interface Region {
  name: string
  depth: number
}

function leave(region: Region | null, name: string): Region | null {
  if (region?.name !== name) return region
  return region.depth === 1 ? null : { name, depth: region.depth - 1 }
}

/** True for an element whose own attributes hide its text, as far as an element within it does not show it. */
export function isHidingElement(name: string, attribute: HtmlAttribute): boolean {
  if (empty.has(name)) return false
  return isHidden(attribute) || /visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])/i.test(attribute('style') ?? '')
}
