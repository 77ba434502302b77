import { Stack, Text, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AnchorLink } from '../../ui/link.tsx'

/** As the server checks it. */
const maximumReason = 500

/** The gate of golden questions keeps a Space from being published: why, and publishing anyway with a reason. */
export function GateDialog(props: {
  organisationId: string
  spaceId: string
  /** What the gate reports; undefined: closed. */
  problem: string | undefined
  isPublishing: boolean
  onPublish: (reason: string) => void
  onClose: () => void
}) {
  const { organisationId, spaceId, problem, isPublishing, onPublish, onClose } = props
  const { t } = useTranslation('spaces')
  const [reason, setReason] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onPublish(reason.trim())
  }
  return (
    <Dialog opened={problem !== undefined} onClose={onClose} title={t('gate.title')} size="lg">
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{problem}</Text>
          <AnchorLink
            to="/organisations/$organisationId/spaces/$spaceId/golden-questions/runs"
            params={{ organisationId, spaceId }}
            size="sm"
          >
            {t('gate.toRuns')}
          </AnchorLink>
          <Textarea
            label={t('gate.reason')}
            description={t('gate.reasonHint')}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            maxLength={maximumReason}
            autosize
            minRows={2}
            required
            data-autofocus
          />
          <DialogButtons
            onCancel={onClose}
            submit={t('gate.publish')}
            color="red.9"
            loading={isPublishing}
            disabled={reason.trim() === ''}
          />
        </Stack>
      </form>
    </Dialog>
  )
}
