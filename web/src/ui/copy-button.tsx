import { ActionIcon, CopyButton as MantineCopyButton, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** Copies `value`. `label` names what is copied, for screen readers and in the tooltip. */
export function CopyButton({ value, label }: { value: string; label?: string }) {
  const { t } = useTranslation()
  return (
    <MantineCopyButton value={value}>
      {({ copied, copy }) => {
        const text = copied ? t('copied') : (label ?? t('copy'))
        return (
          <Tooltip label={text}>
            <ActionIcon variant="subtle" color={copied ? 'teal' : 'gray'} onClick={copy} aria-label={text}>
              {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )
      }}
    </MantineCopyButton>
  )
}
