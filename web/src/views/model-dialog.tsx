import "../styles/model.css";
import { showingModel } from "../ui.ts";
import { later } from "../words/later.ts";
import { CodeBlock } from "./code-block.tsx";
import { Dialog } from "./dialog.tsx";

/** As in `docs/configuration.md`. */
const EXAMPLE = `model:
  default: name-of-the-model
  provider: custom
  base_url: "http://127.0.0.1:11434/v1"
  api_key: "\${MY_MODEL_KEY}"
`;

/** The one setting by which answers come from a model instead of the rehearsal. */
export default function ModelDialog() {
  const { model: w } = later.value;
  return (
    <Dialog id="model-title" title={w.title} onClose={() => (showingModel.value = false)}>
      <div class="model-words">
        <p>{w.now}</p>
        <p>{w.setting(<code>config.yaml</code>)}</p>
        <CodeBlock text={EXAMPLE} language="yaml" label="config.yaml" closed />
        <p>{w.providers}</p>
        <CodeBlock text="hermes model" language="" label={w.terminal} closed />
        <p>{w.then(<code>iris doctor</code>)}</p>
      </div>
    </Dialog>
  );
}
