// <file-upload>: sends one file, with its progress; the dashboard checks it before it is kept.

import { fetchJson } from "./pieces.js";

class FileUpload extends HTMLElement {
  connectedCallback() {
    if (this.childElementCount) return;
    const label = document.createElement("label");
    const input = document.createElement("input");
    const said = document.createElement("output");
    label.textContent = `${this.dataset.label ?? "File"} `;
    input.type = "file";
    input.accept = this.dataset.accept ?? "";
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      if (file) this.#send(file, said);
      input.value = "";
    });
    label.append(input);
    this.append(label, said);
  }

  /**
   * @param {File} file
   * @param {HTMLOutputElement} said
   */
  async #send(file, said) {
    said.className = "";
    said.textContent = `${file.name} is sent and checked…`;
    try {
      const kept = await fetchJson(`/api/upload/${encodeURIComponent(file.name)}`, {
        method: "PUT",
        body: file,
      });
      said.textContent = `${kept.name} is kept.`;
      this.dispatchEvent(new CustomEvent("kept", { bubbles: true }));
    } catch (error) {
      said.className = "fault";
      said.textContent = error instanceof Error ? error.message : String(error);
    }
  }
}

customElements.define("file-upload", FileUpload);
