import type { ReactNode } from 'react'
import styles from './view-links.module.css'

/** Links between the views of a page. The current one has `aria-current="page"`. */
export function ViewLinks({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className={styles['links']}>
      {children}
    </nav>
  )
}
