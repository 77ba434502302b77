import { VisuallyHidden } from '@mantine/core'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentWarning } from '@contract/documents.ts'
import type { QuotePart } from './find-quote.ts'
import styles from './pdf.module.css'
import { type Highlight, useHighlight } from './use-highlight.ts'
import { type PageSize, usePageCanvas, usePageProxy, useTextLayer } from './use-page.ts'

export interface PdfPageProps {
  pdf: PDFDocumentProxy
  /** From 1. */
  number: number
  /** CSS pixels for a point. */
  scale: number
  size: PageSize
  /** What to highlight on this page. */
  quote: string | undefined
  part: QuotePart
  /** What was lost, guessed or recognised on it. */
  warnings: readonly DocumentWarning['code'][]
  onSize(number: number, size: PageSize): void
  /** Reports the highlight of the quote; null: the quote is not on this page. */
  onSearched(number: number, highlight: Highlight | null): void
}

/** One page: a picture, a transparent layer of its text, which can be selected, and the highlighted passage. */
export function PdfPage({ pdf, number, scale, size, quote, part, warnings, onSize, onSearched }: PdfPageProps) {
  const { t } = useTranslation(['viewer', 'failures'])
  const frame = useRef<HTMLDivElement>(null)
  const pictures = useRef<HTMLDivElement>(null)
  const texts = useRef<HTMLDivElement>(null)
  const page = usePageProxy(pdf, number, onSize)
  const hasFailed = usePageCanvas(page, scale, pictures)
  const textLayer = useTextLayer(page, texts)
  const highlight = useHighlight(textLayer, quote, part, frame)
  useEffect(() => {
    if (highlight !== undefined) onSearched(number, highlight)
  }, [highlight, number, onSearched])
  return (
    <div
      ref={frame}
      className={styles['page']}
      style={{ width: size.width * scale, height: size.height * scale, ['--total-scale-factor' as never]: scale }}
      role="region"
      aria-label={t('pdf.page', { number })}
    >
      <div ref={pictures} aria-hidden />
      <div ref={texts} className={styles['text']} />
      {highlight?.boxes.map((box, index) => (
        <div
          // The boxes of one highlight never change their order.
          key={index}
          className={styles['highlight']}
          style={{ left: `${box.left}%`, top: `${box.top}%`, width: `${box.width}%`, height: `${box.height}%` }}
        />
      ))}
      {highlight && <VisuallyHidden>{t('pdf.highlighted', { text: highlight.text })}</VisuallyHidden>}
      {warnings.length > 0 && (
        <div className={styles['marks']}>
          {warnings.map((code) => (
            <span key={code}>{t(`failures:warning.${code}`)}</span>
          ))}
        </div>
      )}
      {hasFailed && <p className={styles['failure']}>{t('pdf.pageFailed')}</p>}
    </div>
  )
}
