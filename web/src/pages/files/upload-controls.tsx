import { Button, Group, Text } from '@mantine/core'
import { notifyWarning } from '../../ui/notify.ts'
import { IconFilePlus, IconFolderPlus, IconUpload } from '@tabler/icons-react'
import { type InputHTMLAttributes, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OnDuplicate } from '@contract/documents.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Select } from '../../ui/select.tsx'
import { type ChosenFile, filesOfDrop, filesOfInput } from './collect-files.ts'
import styles from './files.module.css'
import { WebSourcesButton } from './web-sources-button.tsx'

const choices = ['keep', 'skip', 'replace'] as const

/** Buttons that open the file and folder dialogs, and what happens with a name that exists. */
export function UploadControls(props: {
  spaceId: string
  extensions: string[]
  onDuplicate: OnDuplicate
  onDuplicateChange: (choice: OnDuplicate) => void
  onFiles: (files: ChosenFile[]) => void
}) {
  const { spaceId, extensions, onDuplicate, onDuplicateChange, onFiles } = props
  const { t } = useTranslation('files')
  return (
    <Group gap="xs" align="flex-end">
      <Select
        label={t('onDuplicate.label')}
        size="xs"
        w={210}
        allowDeselect={false}
        data={choices.map((choice) => ({ value: choice, label: t(`onDuplicate.${choice}`) }))}
        value={onDuplicate}
        onChange={(choice) => onDuplicateChange(choices.find((known) => known === choice) ?? 'keep')}
      />
      <WebSourcesButton spaceId={spaceId} />
      <FileButton isFolder onFiles={onFiles} label={t('addFolder')} />
      <FileButton accept={extensions.join()} onFiles={onFiles} label={t('addFiles')} />
    </Group>
  )
}

function FileButton(props: {
  label: string
  isFolder?: boolean
  accept?: string
  onFiles: (files: ChosenFile[]) => void
}) {
  const { label, isFolder = false, accept, onFiles } = props
  const input = useRef<HTMLInputElement>(null)
  const folder = isFolder ? ({ webkitdirectory: '' } as InputHTMLAttributes<HTMLInputElement>) : {}
  const Icon = isFolder ? IconFolderPlus : IconFilePlus
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={label}
        accept={accept}
        {...folder}
        onChange={({ currentTarget }) => {
          onFiles(filesOfInput(currentTarget.files!))
          // The same file can be chosen again.
          currentTarget.value = ''
        }}
      />
      <Button
        variant={isFolder ? 'default' : 'filled'}
        leftSection={<Icon size={16} aria-hidden />}
        onClick={() => input.current?.click()}
      >
        {label}
      </Button>
    </>
  )
}

/** Accepts files and folders that are dropped anywhere on the page. */
export function PageDrop({ hint, onFiles }: { hint: string; onFiles: (files: ChosenFile[]) => void }) {
  const { t } = useTranslation('files')
  const isDragging = useDrop(onFiles, t('uploads.unreadable'))
  if (!isDragging) return null
  return (
    <div className={styles['overlay']}>
      <IconUpload size={40} stroke={1.4} aria-hidden />
      <Text fw={600}>{t('dropHere')}</Text>
      <Dimmed>{hint}</Dimmed>
    </div>
  )
}

function useDrop(onFiles: (files: ChosenFile[]) => void, unreadable: string): boolean {
  const [isDragging, setDragging] = useState(false)
  useEffect(() => {
    // Entering a child is an event too: the pointer has left when as many elements were left as entered.
    let depth = 0
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const enter = (event: DragEvent) => {
      if (hasFiles(event) && ++depth === 1) setDragging(true)
    }
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault()
    }
    const leave = (event: DragEvent) => {
      if (hasFiles(event) && --depth <= 0) end()
    }
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      end()
      filesOfDrop(event.dataTransfer!).then(onFiles, () => notifyWarning(unreadable))
    }
    const end = () => {
      depth = 0
      setDragging(false)
    }
    const listeners = { dragenter: enter, dragover: over, dragleave: leave, drop }
    for (const [type, listener] of Object.entries(listeners)) addEventListener(type as 'drop', listener)
    return () => {
      for (const [type, listener] of Object.entries(listeners)) removeEventListener(type as 'drop', listener)
    }
  }, [onFiles, unreadable])
  return isDragging
}
