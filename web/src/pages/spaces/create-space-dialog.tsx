import { Alert, Stack, Textarea, TextInput } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SpaceBody } from '@contract/operator.ts'
import { ApiError, postJson } from '../../api/client.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { spaceListsKey, spaceModelsQuery } from './queries.ts'
import { ModelSelect } from './space-fields.tsx'

interface DialogProps {
  organisationId: string
  opened: boolean
  onClose: () => void
}

/** A new Space: its name, its model and, optionally, its instructions. */
export function CreateSpaceDialog({ organisationId, opened, onClose }: DialogProps) {
  const { t } = useTranslation('spaces')
  return (
    <Dialog opened={opened} onClose={onClose} title={t('create.title')} size="lg">
      {opened && <CreateSpaceForm organisationId={organisationId} onClose={onClose} />}
    </Dialog>
  )
}

function CreateSpaceForm({ organisationId, onClose }: Omit<DialogProps, 'opened'>) {
  const { t } = useTranslation('spaces')
  const [name, setName] = useState('')
  const [instructions, setInstructions] = useState('')
  const [chosen, setChosen] = useState<string>()
  const models = useQuery(spaceModelsQuery(organisationId))
  const model = chosen ?? models.data?.defaultModel ?? models.data?.models[0]?.id ?? null
  const { mutate, isPending, error } = useCreateSpace(organisationId)
  const fieldError = (field: string) => (error instanceof ApiError && error.param === field ? error.message : undefined)
  const otherError =
    error && !(error instanceof ApiError && ['name', 'model', 'instructions'].includes(error.param ?? ''))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (model !== null) mutate({ name: name.trim(), instructions, model })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={t('field.name')}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={fieldError('name')}
          maxLength={200}
          required
          data-autofocus
        />
        <ModelSelect
          models={models.data?.models ?? []}
          value={model}
          onChange={setChosen}
          error={fieldError('model') ?? (models.error ? models.error.message : undefined)}
        />
        {models.data?.models.length === 0 && (
          <Alert color="gray" icon={<IconInfoCircle size={18} aria-hidden />}>
            {t('model.none')}
          </Alert>
        )}
        <Textarea
          label={t('settings.instructions')}
          description={t('create.instructionsHint')}
          value={instructions}
          onChange={({ currentTarget }) => setInstructions(currentTarget.value)}
          error={fieldError('instructions')}
          autosize
          minRows={4}
          maxRows={12}
          maxLength={50_000}
        />
        {otherError && <Alert color="red">{error.message}</Alert>}
        <DialogButtons
          onCancel={onClose}
          submit={t('create.submit')}
          loading={isPending}
          disabled={name.trim() === '' || model === null}
        />
      </Stack>
    </form>
  )
}

function useCreateSpace(organisationId: string) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (fields: { name: string; instructions: string; model: string }) =>
      postJson<SpaceBody>('/api/spaces', { organisationId, ...fields }),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: spaceListsKey })
      await navigate({
        to: '/organisations/$organisationId/spaces/$spaceId/files',
        params: { organisationId, spaceId: id },
      })
    },
  })
}
