import { ActionIcon, Menu } from '@mantine/core'
import { IconDots, IconExternalLink, IconJson, IconPencil, IconRefresh, IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { memo, type CSSProperties, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentProgressBody } from '@contract/document-progress.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import styles from './files.module.css'
import { StatusCell } from './status-cell.tsx'

export type RowAction = 'rename' | 'metadata' | 'retry' | 'delete'

interface FileRowProps {
  document: DocumentProgressBody
  /** 1-based, for screen readers; the header is row 1. */
  rowNumber: number
  top: number
  address: string
  isSelected: boolean
  /** The status is below the name. */
  isNarrow: boolean
  onSelect: (index: number, isSelected: boolean, isRange: boolean) => void
  onAct: (action: RowAction, document: DocumentProgressBody) => void
}

/** One document. Memoised: scrolling renders rows that come into view only. */
export const FileRow = memo(function FileRow(props: FileRowProps) {
  const { document, rowNumber, top, address, isSelected, isNarrow, onSelect, onAct } = props
  const { t } = useTranslation('files')
  const format = useFormat()
  const { name, path, sizeBytes, pageCount, chunkCount, createdAt } = document
  const status = <StatusCell document={document} onRetry={() => onAct('retry', document)} />
  return (
    <div role="row" className={styles['row']} style={place(top)} aria-rowindex={rowNumber} aria-selected={isSelected}>
      <div role="cell">
        <input
          type="checkbox"
          className={styles['checkbox']}
          checked={isSelected}
          aria-label={t('table.selectRow', { name })}
          onChange={(event) =>
            onSelect(rowNumber - 2, event.currentTarget.checked, (event.nativeEvent as unknown as MouseEvent).shiftKey)
          }
        />
      </div>
      <div role="cell" className={styles['name']}>
        <Link to={address as '/'} className={styles['link']!} title={name}>
          {name}
        </Link>
        {path && (
          <Dimmed size="xs" truncate title={path}>
            {path}
          </Dimmed>
        )}
        {isNarrow && status}
      </div>
      {!isNarrow && (
        <div role="cell" className={styles['status']}>
          {status}
        </div>
      )}
      <div role="cell" className={`${styles['number']} ${styles['medium']}`}>
        {format.bytes(sizeBytes)}
      </div>
      <div role="cell" className={`${styles['number']} ${styles['wide']}`}>
        {pageCount === null ? '–' : format.number(pageCount)}
      </div>
      <div role="cell" className={`${styles['number']} ${styles['wide']}`}>
        {chunkCount === null ? '–' : format.number(chunkCount)}
      </div>
      <div role="cell" className={`${styles['wide']} ${styles['added']}`}>
        <time dateTime={createdAt} title={format.dateTime(createdAt)}>
          {format.relative(createdAt)}
        </time>
      </div>
      <div role="cell">
        <RowMenu document={document} address={address} onAct={onAct} />
      </div>
    </div>
  )
})

function RowMenu({ document, address, onAct }: Pick<FileRowProps, 'document' | 'address' | 'onAct'>) {
  const { t } = useTranslation('files')
  const [wasOpened, setOpened] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const icon = (
    <ActionIcon
      ref={button}
      variant="subtle"
      color="gray"
      aria-haspopup="menu"
      aria-label={t('table.rowActions', { name: document.name })}
      onClick={() => setOpened(true)}
    >
      <IconDots size={18} aria-hidden />
    </ActionIcon>
  )
  // Most menus of a long list are never opened, and each costs a millisecond while scrolling.
  if (!wasOpened) return icon
  return (
    <Menu defaultOpened position="bottom-end" withinPortal onClose={() => button.current?.focus()}>
      <Menu.Target>{icon}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to={address as '/'} leftSection={<IconExternalLink size={16} aria-hidden />}>
          {t('action.open')}
        </Menu.Item>
        <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => onAct('rename', document)}>
          {t('action.rename')}
        </Menu.Item>
        <Menu.Item leftSection={<IconJson size={16} aria-hidden />} onClick={() => onAct('metadata', document)}>
          {t('action.metadata')}
        </Menu.Item>
        {document.status === 'failed' && (
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => onAct('retry', document)}>
            {t('action.retry')}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item
          color="red"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => onAct('delete', document)}
        >
          {t('action.delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** A row whose window is still loading: the same height, so that nothing moves when it arrives. */
export function LoadingRow({ rowNumber, top }: { rowNumber: number; top: number }) {
  const { t } = useTranslation('files')
  return (
    <div role="row" className={styles['row']} style={place(top)} aria-rowindex={rowNumber}>
      <div role="cell" />
      <div role="cell" aria-label={t('table.loading')}>
        <div className={styles['bone']} />
      </div>
    </div>
  )
}

const place = (top: number): CSSProperties => ({ transform: `translateY(${top}px)` })
