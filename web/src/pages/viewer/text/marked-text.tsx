import { Fragment, useEffect, useRef } from 'react'
import styles from '../viewer.module.css'
import { type CodePointRange, markRange } from './mark-range.ts'

interface MarkedTextProps {
  text: string
  /** Position of its first code point. */
  start: number
  range: CodePointRange | undefined
}

/** A text with the part of the range marked; the beginning of the range is scrolled into view. */
export function MarkedText({ text, start, range }: MarkedTextProps) {
  const mark = useRef<HTMLElement>(null)
  useEffect(() => {
    if (range && range.from >= start) mark.current?.scrollIntoView({ block: 'center' })
  }, [range, start])
  return markRange(text, start, range).map((part, index) =>
    part.isMarked ? (
      <mark key={index} ref={mark} className={styles['mark']}>
        {part.text}
      </mark>
    ) : (
      <Fragment key={index}>{part.text}</Fragment>
    ),
  )
}
