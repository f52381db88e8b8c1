// Fetches two URLs, and says a line on a stream.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URL;

public final class Fetch {
    public static void main(String[] words) throws Exception {
        for (int i = 0; i < 2; i++) System.out.println(new String(new URL(words[i]).openStream().readAllBytes()));
        try (Socket socket = new Socket(words[2], Integer.parseInt(words[3]))) {
            socket.getOutputStream().write("by stream\n".getBytes());
            System.out.println(new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine());
        }
    }
}
