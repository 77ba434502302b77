import { ActionIcon, Group, Text, TextInput, Tooltip } from '@mantine/core'
import { IconChevronLeft, IconChevronRight, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../i18n/use-format.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import styles from '../viewer.module.css'
import { nextZoom } from './zoom.ts'

interface PdfToolbarProps {
  page: number
  pages: number
  zoom: number
  onPage(page: number): void
  onZoom(zoom: number): void
  /** Whether the passage was found; undefined: there is none, or it is being searched. */
  passage: boolean | undefined
}

export function PdfToolbar({ page, pages, zoom, onPage, onZoom, passage }: PdfToolbarProps) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  return (
    <Group className={styles['toolbar']} gap="xs" role="toolbar" aria-label={t('pdf.toolbar')}>
      <Tool label={t('pdf.previous')} disabled={page <= 1} onClick={() => onPage(page - 1)}>
        <IconChevronLeft size={16} />
      </Tool>
      <PageField page={page} pages={pages} onPage={onPage} />
      <Dimmed>{t('pdf.of', { pages: format.number(pages) })}</Dimmed>
      <Tool label={t('pdf.next')} disabled={page >= pages} onClick={() => onPage(page + 1)}>
        <IconChevronRight size={16} />
      </Tool>
      <Tool label={t('pdf.zoomOut')} disabled={nextZoom(zoom, -1) === zoom} onClick={() => onZoom(nextZoom(zoom, -1))}>
        <IconZoomOut size={16} />
      </Tool>
      <Text size="sm" w={48} ta="center">
        {format.percent(zoom)}
      </Text>
      <Tool label={t('pdf.zoomIn')} disabled={nextZoom(zoom, 1) === zoom} onClick={() => onZoom(nextZoom(zoom, 1))}>
        <IconZoomIn size={16} />
      </Tool>
      <Dimmed role="status" ml="auto">
        {passage === undefined ? '' : t(passage ? 'pdf.found' : 'pdf.notFound')}
      </Dimmed>
    </Group>
  )
}

interface ToolProps {
  label: string
  disabled: boolean
  onClick(): void
  children: ReactNode
}

function Tool({ label, disabled, onClick, children }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={disabled} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  )
}

/** Goes to the page when the field is left or Enter is pressed. */
function PageField({ page, pages, onPage }: Pick<PdfToolbarProps, 'page' | 'pages' | 'onPage'>) {
  const { t } = useTranslation('viewer')
  const [value, setValue] = useState(String(page))
  useEffect(() => setValue(String(page)), [page])
  const submit = () => {
    const wanted = Number(value)
    if (Number.isInteger(wanted) && wanted >= 1 && wanted <= pages && wanted !== page) onPage(wanted)
    else setValue(String(page))
  }
  return (
    <TextInput
      size="xs"
      w={64}
      inputMode="numeric"
      aria-label={t('pdf.pageField')}
      value={value}
      onChange={({ currentTarget }) => setValue(currentTarget.value)}
      onBlur={submit}
      onKeyDown={(event) => event.key === 'Enter' && submit()}
    />
  )
}
