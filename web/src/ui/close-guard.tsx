import { Button, getDefaultZIndex, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { type FocusEvent, type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

/** A text that was typed, chosen or pasted; not a search, and no password, which nobody keeps. */
type TextField = HTMLInputElement | HTMLTextAreaElement

const otherTypes = new Set(['search', 'password', 'checkbox', 'radio', 'file', 'range'])

/**
 * Of a dialog or drawer: asks before typed text is lost, when it is closed by Escape, its close button or a click next to it, or when the browser
 * goes back. Its own buttons close it without a question.
 */
export function useCloseGuard(onClose: () => void) {
  const { t } = useTranslation()
  /** The fields that had the focus, with the text that they had before. */
  const fields = useRef(new Map<TextField, string>())
  const [asked, setAsked] = useState<() => void>()
  const hasTyped = () => [...fields.current].some(([field, text]) => field.isConnected && field.value !== text)
  const close = () => {
    fields.current.clear()
    onClose()
  }
  const blocker = useBlocker({
    // Its own buttons may lead to another page when everything is saved.
    shouldBlockFn: ({ action }) => action !== 'PUSH' && action !== 'REPLACE' && hasTyped(),
    enableBeforeUnload: hasTyped,
    withResolver: true,
  })
  const isBlocked = blocker.status === 'blocked'
  const isAsking = asked !== undefined || isBlocked
  const note = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return
    if (!otherTypes.has(target.type) && !fields.current.has(target)) fields.current.set(target, target.value)
  }
  return {
    props: {
      onClose: () => (hasTyped() ? setAsked(() => close) : close()),
      // The key closes the question only.
      closeOnEscape: !isAsking,
      closeButtonProps: { 'aria-label': t('close') },
    },
    wrap: (children: ReactNode) => (
      <div onFocusCapture={note}>
        {children}
        {isAsking && (
          <AskToDiscard
            title={t('discard.title')}
            text={t('settings.leaveText')}
            stay={t('discard.stay')}
            leave={t('settings.discard')}
            onStay={() => {
              setAsked(undefined)
              if (isBlocked) blocker.reset()
            }}
            onLeave={() => {
              setAsked(undefined)
              fields.current.clear()
              if (isBlocked) blocker.proceed()
              else asked?.()
            }}
          />
        )}
      </div>
    ),
  }
}

interface AskProps {
  title: string
  text: string
  stay: string
  leave: string
  onStay: () => void
  onLeave: () => void
}

export function AskToDiscard({ title, text, stay, leave, onStay, onLeave }: AskProps) {
  const { t } = useTranslation()
  return (
    <Modal
      opened
      onClose={onStay}
      title={title}
      // Above the dialog whose text it is about.
      zIndex={getDefaultZIndex('modal') + 3}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack>
        <Text size="sm">{text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onStay} data-autofocus>
            {stay}
          </Button>
          <Button color="red.9" onClick={onLeave}>
            {leave}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
