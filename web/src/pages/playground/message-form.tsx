import { Button, Group, List, Stack, Text, Textarea } from '@mantine/core'
import { IconPaperclip, IconPlayerStopFilled, IconSend2 } from '@tabler/icons-react'
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, type RefObject, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { AttachmentList } from './attachment-list.tsx'
import { acceptedTypes, type Attachment, attachmentLimits, readAttachments, type RefusedFile } from './attachments.ts'

export interface Draft {
  text: string
  attachments: Attachment[]
}

export const emptyDraft: Draft = { text: '', attachments: [] }

export const isBlank = ({ text, attachments }: Draft) => text.trim() === '' && attachments.length === 0

interface MessageFormProps {
  draft: Draft
  /** Files of the conversation, which each request has again. */
  sentAttachments: readonly Attachment[]
  isRunning: boolean
  /** A field of the settings keeps the message from being sent. */
  isBlocked: boolean
  inputRef: RefObject<HTMLTextAreaElement | null>
  onChange: (change: (draft: Draft) => Draft) => void
  onSend: () => void
  onStop: () => void
}

/** The next message. Files are chosen, dropped or pasted. */
export function MessageForm(props: MessageFormProps) {
  const { draft, sentAttachments, isRunning, isBlocked, inputRef, onChange, onSend, onStop } = props
  const { t } = useTranslation('playground')
  const [refused, setRefused] = useState<RefusedFile[]>([])
  const [isDragging, setDragging] = useState(false)
  const canSend = !isRunning && !isBlank(draft)
  const addFiles = async (files: File[]) => {
    if (files.length === 0) return
    const read = await readAttachments(files, [...sentAttachments, ...draft.attachments])
    setRefused(read.refused)
    onChange((before) => ({ ...before, attachments: [...before.attachments, ...read.attachments] }))
  }
  const send = () => {
    if (!canSend) return
    setRefused([])
    onSend()
  }
  return (
    <Stack
      gap="xs"
      component="form"
      p={4}
      style={{ outline: isDragging ? '2px dashed var(--mantine-primary-color-filled)' : undefined }}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      {...fileDrop(setDragging, (files) => void addFiles(files))}
    >
      <LeaveGuard isDirty={draft.text.trim() !== ''} keepsWithinPath />
      <Textarea
        ref={inputRef}
        label={t('message')}
        placeholder={t('placeholder')}
        value={draft.text}
        onChange={({ currentTarget: { value } }) => onChange((before) => ({ ...before, text: value }))}
        onKeyDown={(event) => sendWithEnter(event, send)}
        onPaste={(event) => pasteFiles(event, (files) => void addFiles(files))}
        autosize
        minRows={3}
        maxRows={14}
        maxLength={200_000}
      />
      {draft.attachments.length > 0 && (
        <AttachmentList
          attachments={draft.attachments}
          onRemove={(id) => {
            onChange((before) => ({ ...before, attachments: before.attachments.filter((one) => one.id !== id) }))
            inputRef.current?.focus()
          }}
        />
      )}
      <RefusedFiles refused={refused} />
      {isBlocked && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {t('blocked')}
        </Text>
      )}
      <Group justify="space-between">
        <FilesButton onFiles={(files) => void addFiles(files)} />
        {isRunning ? <StopButton onStop={onStop} /> : <SendButton canSend={canSend} />}
      </Group>
      <Dimmed size="xs" visibleFrom="sm">
        {t('keys')}
      </Dimmed>
    </Stack>
  )
}

function StopButton({ onStop }: Pick<MessageFormProps, 'onStop'>) {
  const { t } = useTranslation('playground')
  return (
    <Button variant="default" leftSection={<IconPlayerStopFilled size={16} aria-hidden />} onClick={onStop} ml="auto">
      {t('stop')}
    </Button>
  )
}

function SendButton({ canSend }: { canSend: boolean }) {
  const { t } = useTranslation('playground')
  return (
    <Button type="submit" leftSection={<IconSend2 size={16} aria-hidden />} disabled={!canSend} ml="auto">
      {t('send')}
    </Button>
  )
}

function sendWithEnter(event: KeyboardEvent, send: () => void): void {
  // While an input method composes a character, Enter belongs to it.
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
  event.preventDefault()
  send()
}

function pasteFiles(event: ClipboardEvent, onFiles: (files: File[]) => void): void {
  const files = [...event.clipboardData.files]
  if (files.length === 0) return
  event.preventDefault()
  onFiles(files)
}

function fileDrop(setDragging: (isDragging: boolean) => void, onFiles: (files: File[]) => void) {
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files')
  return {
    onDragOver(event: DragEvent) {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDragging(true)
    },
    onDragLeave(event: DragEvent) {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDragging(false)
    },
    onDrop(event: DragEvent) {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDragging(false)
      onFiles([...event.dataTransfer.files])
    },
  }
}

function FilesButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const { t } = useTranslation('playground')
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={t('files.add')}
        accept={acceptedTypes.join()}
        onChange={({ currentTarget }) => {
          onFiles([...currentTarget.files!])
          // The same file can be chosen again.
          currentTarget.value = ''
        }}
      />
      <Button
        variant="default"
        leftSection={<IconPaperclip size={16} aria-hidden />}
        onClick={() => input.current?.click()}
      >
        {t('files.add')}
      </Button>
    </>
  )
}

function RefusedFiles({ refused }: { refused: RefusedFile[] }) {
  const { t } = useTranslation('playground')
  const format = useFormat()
  if (refused.length === 0) return null
  const { images, fileBytes, conversationBytes } = attachmentLimits
  const limits = {
    limit: format.number(images),
    file: `${format.number(fileBytes / 2 ** 20)} MiB`,
    all: `${format.number(conversationBytes / 2 ** 20)} MiB`,
  }
  return (
    <div role="alert">
      <List size="sm" c="var(--mantine-color-error)">
        {refused.map(({ name, problem }, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
            {name}: {t(`files.problems.${problem}`, limits)}
          </List.Item>
        ))}
      </List>
    </div>
  )
}
