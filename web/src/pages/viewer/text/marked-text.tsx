import { Fragment } from 'react'
import styles from '../viewer.module.css'
import { type CodePointRange, markRange } from './mark-range.ts'

interface MarkedTextProps {
  text: string
  /** Position of its first code point. */
  start: number
  range: CodePointRange | undefined
}

export function MarkedText({ text, start, range }: MarkedTextProps) {
  return markRange(text, start, range).map((part, index) =>
    part.isMarked ? (
      <mark key={index} className={styles['mark']}>
        {part.text}
      </mark>
    ) : (
      <Fragment key={index}>{part.text}</Fragment>
    ),
  )
}
