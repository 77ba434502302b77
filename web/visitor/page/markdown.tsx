import { type ComponentChildren, createElement, Fragment, type VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { countMarkers, markerPattern, splitSettled } from '../../src/ui/answer-text.ts'
import { parseAnswer } from '../../src/ui/parse-answer.ts'

/** Shows a marker `[number]`. `occurrence`: which `[number]` of the text it is; undefined while the text grows. */
export type RenderMarker = (number: number, occurrence: number | undefined) => VNode | string

/**
 * The text of an answer as elements: HTML in it stays text, pictures become their description, and links lead to http, https and
 * mailto only.
 */
export function Markdown(props: { text: string; isComplete: boolean; renderMarker: RenderMarker }) {
  const { text, isComplete, renderMarker } = props
  const parts = isComplete ? [text] : splitSettled(text)
  return (
    <div class="markdown">
      {parts.map((part, index) => (
        <Part key={index} text={part} isComplete={isComplete} renderMarker={renderMarker} />
      ))}
    </div>
  )
}

/** While the text grows, only its last part is parsed again. */
function Part({ text, isComplete, renderMarker }: { text: string; isComplete: boolean; renderMarker: RenderMarker }) {
  return useMemo(() => {
    const { children } = parseAnswer(text)
    const occurrences = isComplete ? countMarkers(text) : new Map<number, number>()
    return <>{renderAll(children, { text, occurrences, renderMarker })}</>
  }, [text, isComplete, renderMarker])
}

type Root = ReturnType<typeof parseAnswer>
type Node = Root | Root['children'][number]
type TextNode = Extract<Node, { type: 'text' }>
type TableNode = Extract<Node, { type: 'table' }>

interface Context {
  text: string
  occurrences: ReadonlyMap<number, number>
  renderMarker: RenderMarker
}

function renderAll(nodes: readonly Node[], context: Context): VNode[] {
  return nodes.map((node, index) => <Fragment key={index}>{render(node, context)}</Fragment>)
}

const elements: Partial<Record<Node['type'], string>> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  listItem: 'li',
  emphasis: 'em',
  strong: 'strong',
  delete: 'del',
}

function render(node: Node, context: Context): ComponentChildren {
  switch (node.type) {
    case 'text':
      return renderText(node, context)
    case 'html':
      return node.value
    case 'inlineCode':
      return <code dir="ltr">{node.value}</code>
    case 'code':
      return (
        <pre dir="ltr" tabIndex={0}>
          <code>{node.value}</code>
        </pre>
      )
    case 'break':
      return <br />
    case 'thematicBreak':
      return <hr />
    case 'image':
      return node.alt ?? ''
    case 'link':
      return renderLink(node.url, renderAll(node.children, context))
    case 'heading':
      // The title of the page is h1, a question h2.
      return createElement(`h${Math.min(6, node.depth + 2)}`, { dir: 'auto' }, renderAll(node.children, context))
    case 'list':
      return createElement(
        node.ordered ? 'ol' : 'ul',
        { dir: 'auto', ...(node.ordered && (node.start ?? 1) !== 1 ? { start: node.start! } : {}) },
        renderAll(node.children, context),
      )
    case 'table':
      return renderTable(node, context)
    default:
      return renderContainer(node, context)
  }
}

/** Definitions and other nodes without text are not shown. */
function renderContainer(node: Node, context: Context): ComponentChildren {
  if (!('children' in node)) return null
  const children = renderAll(node.children, context)
  const element = elements[node.type]
  if (element === undefined) return children
  return createElement(element, element === 'p' || element === 'blockquote' ? { dir: 'auto' } : null, children)
}

function renderLink(url: string, content: VNode[]): ComponentChildren {
  if (!/^(?:https?:\/\/|mailto:)/i.test(url)) return content
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {content}
    </a>
  )
}

function renderTable({ children }: TableNode, context: Context) {
  const [head, ...rows] = children
  return (
    <div class="table" tabIndex={0}>
      <table dir="auto">
        <thead>
          <tr>
            {head?.children.map((cell, index) => (
              <th key={index}>{renderAll(cell.children, context)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.children.map((cell, cellIndex) => (
                <td key={cellIndex}>{renderAll(cell.children, context)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Signs that stay in the line of the marker before them. */
const closing = /^[.,;:!?…)\]}»”’،؛؟。，]+/

function renderText({ value, position }: TextNode, { text, occurrences, renderMarker }: Context): ComponentChildren {
  const from = position?.start.offset ?? 0
  // The value lacks escapes and the indentation of its lines.
  const markers = [...text.slice(from, position?.end.offset ?? 0).matchAll(markerPattern)]
  const pieces = value.split(/(\[[1-9]\d{0,3}\])/)
  return pieces.map((piece, index) => {
    if (index % 2 === 0) return index === 0 ? piece : piece.replace(closing, '')
    const at = markers[0]?.[0] === piece ? from + markers.shift()!.index : -1
    return (
      <span key={index} class="cited">
        {renderMarker(Number(piece.slice(1, -1)), occurrences.get(at))}
        {closing.exec(pieces[index + 1] ?? '')?.[0]}
      </span>
    )
  })
}
