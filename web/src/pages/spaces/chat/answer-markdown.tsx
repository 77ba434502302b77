import { Code, Table } from '@mantine/core'
import { createElement, Fragment, memo, type ReactNode } from 'react'
import type { Reference } from '@contract/chat.ts'
import { countMarkers, markerPattern, splitSettled } from '../../../ui/answer-text.ts'
import { HighlightedCode } from '../../../ui/highlighted-code.tsx'
import { parseAnswer } from '../../../ui/parse-answer.ts'
import { CitationChip } from './citation.tsx'
import styles from './chat.module.css'

/**
 * The text of an answer as Markdown, rendered as React elements: HTML in it stays text, pictures become their description, and links
 * lead to http, https and mailto only. Markers `[n]` outside of code become citation chips.
 */
export function AnswerMarkdown(props: { text: string; isComplete: boolean; references: Reference[] | undefined }) {
  const { text, isComplete, references } = props
  // While the text grows, only its last part is parsed again.
  const parts = isComplete ? [text] : splitSettled(text)
  return (
    <div className={styles['answer']}>
      {parts.map((part, index) => (
        <MarkdownPart key={index} text={part} isWhole={isComplete} references={references} />
      ))}
    </div>
  )
}

const MarkdownPart = memo(function MarkdownPart(props: {
  text: string
  isWhole: boolean
  references: Reference[] | undefined
}) {
  const { text, isWhole, references } = props
  const { children } = parseAnswer(text)
  return <>{renderAll(children, { references, text, occurrences: isWhole ? countMarkers(text) : new Map() })}</>
})

/** The nodes of mdast, whose types are not a separate dependency. */
type Root = ReturnType<typeof parseAnswer>
type RootContent = Root['children'][number]
type Nodes = Root | RootContent
type PhrasingContent = Extract<RootContent, { type: 'paragraph' }>['children'][number]
type TextNode = Extract<RootContent, { type: 'text' }>
type TableNode = Extract<RootContent, { type: 'table' }>

interface Context {
  references: Reference[] | undefined
  /** The Markdown. */
  text: string
  occurrences: ReadonlyMap<number, number>
}

function renderAll(nodes: readonly Nodes[], context: Context): ReactNode[] {
  return nodes.map((node, index) => <Fragment key={index}>{render(node, context)}</Fragment>)
}

function render(node: Nodes, context: Context): ReactNode {
  switch (node.type) {
    case 'text':
      return renderText(node, context)
    case 'html':
      return node.value
    case 'inlineCode':
      return <Code>{node.value}</Code>
    case 'code':
      return (
        <Code block tabIndex={0}>
          <HighlightedCode code={node.value} language={node.lang} />
        </Code>
      )
    case 'break':
      return <br />
    case 'thematicBreak':
      return <hr />
    case 'image':
      return node.alt ?? ''
    case 'link':
      return renderLink(node.url, node.children, context)
    case 'heading':
      // The page has h1 and h2.
      return createElement(`h${Math.min(6, node.depth + 2)}`, null, ...renderAll(node.children, context))
    case 'list':
      return createElement(
        node.ordered ? 'ol' : 'ul',
        node.ordered && (node.start ?? 1) !== 1 ? { start: node.start } : null,
        ...renderAll(node.children, context),
      )
    case 'table':
      return renderTable(node, context)
    default:
      return renderContainer(node, context)
  }
}

const elements: Partial<Record<Nodes['type'], string>> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  listItem: 'li',
  emphasis: 'em',
  strong: 'strong',
  delete: 'del',
}

/** Definitions and other nodes without text are not shown. */
function renderContainer(node: Nodes, context: Context): ReactNode {
  if (!('children' in node)) return null
  const children = renderAll(node.children as RootContent[], context)
  const element = elements[node.type]
  return element ? createElement(element, null, ...children) : <>{children}</>
}

function renderLink(url: string, children: PhrasingContent[], context: Context): ReactNode {
  const content = renderAll(children, context)
  if (!/^(?:https?:\/\/|mailto:)/i.test(url)) return <>{content}</>
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {content}
    </a>
  )
}

function renderTable({ children }: TableNode, context: Context): ReactNode {
  const [head, ...rows] = children
  return (
    <Table.ScrollContainer minWidth={320} type="native" tabIndex={0}>
      <Table withTableBorder withColumnBorders verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            {head?.children.map((cell, index) => (
              <Table.Th key={index}>{renderAll(cell.children, context)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            <Table.Tr key={index}>
              {row.children.map((cell, cellIndex) => (
                <Table.Td key={cellIndex}>{renderAll(cell.children, context)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** Before the references arrive every bracketed number is shown as a marker; afterwards only those that have a reference. */
function renderText({ value, position }: TextNode, { references, text, occurrences }: Context): ReactNode {
  const from = position?.start.offset ?? 0
  // The value lacks escapes and the indentation of its lines.
  const markers = [...text.slice(from, position?.end.offset ?? 0).matchAll(markerPattern)]
  return value.split(/(\[\d{1,4}\])/).map((piece, index) => {
    if (index % 2 === 0) return piece
    const number = Number(piece.slice(1, -1))
    const reference = references?.find(({ id }) => id === number)
    const at = markers[0]?.[0] === piece ? from + markers.shift()!.index : -1
    return references && !reference ? (
      piece
    ) : (
      <CitationChip key={index} number={number} occurrence={occurrences.get(at)} reference={reference} />
    )
  })
}
