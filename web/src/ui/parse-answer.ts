import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmAutolinkLiteralFromMarkdown } from 'mdast-util-gfm-autolink-literal'
import { gfmStrikethroughFromMarkdown } from 'mdast-util-gfm-strikethrough'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmAutolinkLiteral } from 'micromark-extension-gfm-autolink-literal'
import { gfmStrikethrough } from 'micromark-extension-gfm-strikethrough'
import { gfmTable } from 'micromark-extension-gfm-table'

/**
 * The Markdown of an answer with tables, strikethrough and bare links. Footnotes and check boxes of GFM stay text: an answer has citations,
 * and a footnote would take `[^1]` away.
 */
export const parseAnswer = (text: string) =>
  fromMarkdown(text, {
    extensions: [gfmAutolinkLiteral(), gfmStrikethrough(), gfmTable()],
    mdastExtensions: [gfmAutolinkLiteralFromMarkdown(), gfmStrikethroughFromMarkdown(), gfmTableFromMarkdown()],
  })
